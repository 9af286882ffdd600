import type { Contestant, Load } from './contestant.ts';
import { payloads } from './payloads.ts';

/** Jobs in one call: a few hundred kilobytes. */
const BATCH = 1000;

/** By the contestant's own producer, in bulk. */
export async function fill(
  contestant: Contestant,
  location: string,
  { count, delayMs }: Load,
): Promise<void> {
  const producer = await contestant.startProducer(location);
  try {
    const all = payloads(count);
    for (let from = 0; from < count; from += BATCH) {
      await producer.enqueueMany(all.slice(from, from + BATCH), delayMs);
    }
  } finally {
    await producer.stop();
  }
}

/** By its quicker way where there is one. */
export async function load(contestant: Contestant, location: string, wanted: Load): Promise<void> {
  if (contestant.load === undefined) await fill(contestant, location, wanted);
  else await contestant.load(location, wanted);
}
