import { setTimeout as sleep } from 'node:timers/promises';
import type { Context, Truthy, WaitOptions } from '../context.ts';
import type { Harness } from '../harness.ts';

/** The part of the context that deals with time. */
export type Waiting = Pick<Context, 'passTime' | 'now' | 'nowAtLeast' | 'eventually' | 'never' | 'within'>;

const POLL_MS = 25;
/** `never` looks this often while a virtual clock is moved. */
const STEPS = 10;

/**
 * Time of one case. A virtual clock is moved by jumps where the case asks for it, and driven at the speed of real time
 * while a condition is awaited, so that the same case holds for both kinds of store.
 */
export function waitingOf(harness: Harness): Waiting {
  let moved = 0;
  // Moves follow one another: the clock stands between the two.
  let arrived = 0;
  const move = async (ms: number): Promise<void> => {
    if (harness.advance === undefined) return sleep(ms);
    // Whole milliseconds, and a turn of the event loop, so that a loop of moves starves nobody.
    const whole = Math.ceil(ms);
    moved += whole;
    await harness.advance(whole);
    arrived += whole;
    await sleep(0);
  };
  const poll = async (everyMs: number): Promise<void> => {
    const from = performance.now();
    await sleep(everyMs);
    if (harness.advance !== undefined) await move(Math.ceil(performance.now() - from));
  };
  return {
    passTime: move,
    // A virtual clock stands still unless it is moved.
    now: () => (harness.advance === undefined ? performance.now() : moved),
    nowAtLeast: () => (harness.advance === undefined ? performance.now() : arrived),
    eventually: (probe, options) => eventually(probe, options, poll),
    async never(probe, { what, forMs }) {
      const steps = harness.advance === undefined ? Math.max(1, Math.ceil(forMs / 100)) : STEPS;
      for (let step = 0; step <= steps; step++) {
        if (await probe()) throw new Error(`${what}: happened, ${step} of ${steps} steps into ${forMs} ms.`);
        if (step < steps) await move(forMs / steps);
      }
    },
    async within(what, limitMs, work) {
      let open = true;
      const driven = (async () => {
        while (open && harness.advance !== undefined) await poll(POLL_MS);
      })();
      try {
        return await within(what, limitMs, work);
      } finally {
        open = false;
        await driven;
      }
    },
  };
}

async function eventually<T>(
  probe: () => Promise<T>,
  options: WaitOptions,
  poll: (ms: number) => Promise<void>,
): Promise<Truthy<T>> {
  const from = performance.now();
  for (;;) {
    const answer = await attempt(probe);
    if ('value' in answer && answer.value) return answer.value as Truthy<T>;
    if (performance.now() - from > options.withinMs) {
      throw new Error(
        `${options.what}: not within ${options.withinMs} ms.`,
        'error' in answer ? { cause: answer.error } : {},
      );
    }
    await poll(options.everyMs ?? POLL_MS);
  }
}

async function attempt<T>(probe: () => Promise<T>): Promise<{ value: T } | { error: unknown }> {
  try {
    return { value: await probe() };
  } catch (error) {
    return { error };
  }
}

/** Fails when the work has not settled in time; its late end is then nobody's. */
export async function within<T>(
  what: string,
  limitMs: number,
  work: Promise<T>,
): Promise<{ readonly value: T; readonly tookMs: number }> {
  const from = performance.now();
  const alarm = new AbortController();
  const late = sleep(limitMs, undefined, { signal: alarm.signal }).then(
    () => {
      throw new Error(`${what}: did not end within ${limitMs} ms.`);
    },
    () => undefined as never,
  );
  try {
    const value = await Promise.race([work, late]);
    return { value, tookMs: performance.now() - from };
  } finally {
    alarm.abort();
    work.catch(() => {});
  }
}
