import { setTimeout as sleep } from 'node:timers/promises';

const LOOK_EVERY_MS = 25;

/** What a wait is for, and how long it may take. */
export interface Wait {
  readonly what: string;
  readonly withinMs: number;
  readonly everyMs?: number;
}

/**
 * Asks until the answer is neither null nor false nor undefined, and returns it. Throws that it did not happen, with the last error
 * as cause, and what the signal aborts with.
 */
export async function eventually<T>(
  signal: AbortSignal,
  probe: () => T | Promise<T>,
  { what, withinMs, everyMs = LOOK_EVERY_MS }: Wait,
): Promise<Exclude<T, false | null | undefined>> {
  const from = performance.now();
  let cause: unknown;
  do {
    signal.throwIfAborted();
    try {
      const answer = await probe();
      if (answer !== false && answer !== null && answer !== undefined) return answer as never;
    } catch (error) {
      cause = error;
    }
    await sleep(everyMs);
  } while (performance.now() - from < withinMs);
  throw new Error(`${what}: not within ${withinMs} ms`, cause === undefined ? {} : { cause });
}

/** Waits out a time, unless the drill is broken off. */
export async function pause(signal: AbortSignal, ms: number): Promise<void> {
  signal.throwIfAborted();
  await sleep(Math.max(0, ms), undefined, { signal }).catch(() => signal.throwIfAborted());
}
