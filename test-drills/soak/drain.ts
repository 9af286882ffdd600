import { setTimeout as sleep } from 'node:timers/promises';
import type { Crew } from './crew.ts';
import type { SoakPlace } from './soak-place.ts';

/** What is to become empty. */
interface DrainOrder {
  readonly place: SoakPlace;
  readonly crew: Crew;
  readonly queue: string;
  readonly withinMs: number;
  readonly signal: AbortSignal;
}

const LOOK_EVERY_MS = 250;
/** Counts of some backends are behind; so long nothing may be seen. */
const EMPTY_FOR_MS = 3000;
const CALL_MS = 15_000;

/** Waits until nothing waits and nothing is leased. Answers what did not come to that. */
export async function drain({ place, queue, withinMs, signal }: DrainOrder): Promise<readonly string[]> {
  const backend = await place.open();
  await backend.open({ timeoutMs: CALL_MS, notify: () => undefined });
  const until = performance.now() + withinMs;
  let emptySince: number | null = null;
  let last = '';
  try {
    while (performance.now() < until && !signal.aborted) {
      const { ready, scheduled, leased } = await backend.counts(queue, { timeoutMs: CALL_MS });
      const counts = [ready, scheduled, leased].map(({ value }) => value ?? 0);
      last = counts.join(', ');
      if (counts.some((count) => count > 0)) emptySince = null;
      else emptySince ??= performance.now();
      if (emptySince !== null && performance.now() - emptySince >= EMPTY_FOR_MS) return [];
      await sleep(LOOK_EVERY_MS);
    }
  } finally {
    await backend.close({ graceMs: CALL_MS });
  }
  signal.throwIfAborted();
  return [`it did not drain within ${Math.round(withinMs / 1000)} s: ready, scheduled, leased are ${last}`];
}
