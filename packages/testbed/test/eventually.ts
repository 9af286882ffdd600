import { setTimeout as sleep } from 'node:timers/promises';

/** Waits until `holds` answers true; in the end says what was waited for. */
export async function eventually(
  what: string,
  holds: () => boolean | Promise<boolean>,
  withinMs = 10_000,
): Promise<void> {
  const deadline = performance.now() + withinMs;
  while (!(await holds())) {
    if (performance.now() > deadline) throw new Error(`not within ${withinMs} ms: ${what}`);
    await sleep(10);
  }
}

/** Whether a promise has settled by the end of `ms`. */
export function settlesWithin(promise: Promise<unknown>, ms: number): Promise<boolean> {
  const settled = promise.then(
    () => true,
    () => true,
  );
  return Promise.race([settled, sleep(ms, false)]);
}
