import type { Context } from '../context.ts';

const SWEEP_EVERY_MS = 60_000;
const SOON_MS = 1000;
const ROWS_A_STEP = 1000;
/** Ten thousand records of a kind a minute and process; the rest waits for the next minute. */
const MOST_STEPS = 10;
const STEP_WITHIN_MS = 5000;

const sweptAt = new WeakMap<Context, number>();

/** Sweeps once a minute and process, a moment after it is asked to: the first claims of a process have no connection to spare. */
export function sweepSoon(context: Context): void {
  const now = performance.now();
  if (now - (sweptAt.get(context) ?? Number.NEGATIVE_INFINITY) < SWEEP_EVERY_MS) return;
  sweptAt.set(context, now);
  setTimeout(() => void sweep(context), SOON_MS).unref();
}

/** Removes dead dedupe records, old records of completed jobs and stale idle marks, in bounded steps. */
async function sweep(context: Context): Promise<void> {
  for (let step = 0; step < MOST_STEPS && !context.closing.aborted; step += 1) {
    const call = { operation: 'claim', deadline: performance.now() + STEP_WITHIN_MS };
    const result = await context.connections.attempt(
      context.sql.sweep,
      [ROWS_A_STEP, context.options.keepCompletedMs],
      call,
    );
    if (!result.ok || (result.rows[0] as { removed?: number } | undefined)?.removed !== ROWS_A_STEP) return;
  }
}
