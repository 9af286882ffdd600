import type { Contestant } from '../contestants/contestant.ts';
import { payload, payloads } from '../contestants/payloads.ts';

export interface ProduceRequest {
  readonly location: string;
  /** Jobs at most, numbered from 0. */
  readonly jobs: number;
  /** Jobs in a call; 1: a call for single jobs. */
  readonly batch: number;
  /** Calls under way at the same time. */
  readonly inFlight: number;
  /** No call begins after that. */
  readonly limitMs: number;
}

export interface ProduceResult {
  /** On the clock of the machine. */
  readonly startedAt: number;
  readonly elapsedMs: number;
  /** Jobs that are stored, by what the contestant says. */
  readonly produced: number;
}

/** Enqueues and measures. Runs in the process that is measured. */
export async function produce(contestant: Contestant, request: ProduceRequest): Promise<ProduceResult> {
  const { location, jobs, batch, inFlight, limitMs } = request;
  const producer = await contestant.startProducer(location);
  const calls = payloadsByCall(jobs, batch);
  let next = 0;
  let produced = 0;
  const startedAt = performance.now();
  const lane = async (): Promise<void> => {
    while (performance.now() - startedAt < limitMs) {
      const items = calls[next];
      next += 1;
      if (items === undefined) return;
      if (typeof items === 'number') await producer.enqueue(payload(items));
      else await producer.enqueueMany(items);
      produced += typeof items === 'number' ? 1 : items.length;
    }
  };
  await Promise.all(Array.from({ length: inFlight }, lane));
  const elapsedMs = performance.now() - startedAt;
  await producer.stop();
  return { startedAt: performance.timeOrigin + startedAt, elapsedMs, produced };
}

/** A number stands for the one payload of that number. All bulk payloads are made beforehand, since making them is not the question. */
function payloadsByCall(jobs: number, batch: number): readonly (number | ReturnType<typeof payloads>)[] {
  if (batch === 1) return Array.from({ length: jobs }, (_, n) => n);
  const all = payloads(jobs);
  return Array.from({ length: Math.ceil(jobs / batch) }, (_, call) =>
    all.slice(call * batch, (call + 1) * batch),
  );
}
