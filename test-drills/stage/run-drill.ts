import { newAccount } from './account.ts';
import type { Drill, DrillReport } from './drill.ts';
import type { Place } from './place.ts';
import type { Progress } from './progress.ts';
import { setStage } from './stage.ts';

/** How a drill is run. */
export interface RunOptions {
  readonly place: Place;
  readonly seed: number;
  readonly quick: boolean;
  readonly realTime: boolean;
  readonly progress: Progress;
  /** Aborts on an interruption: the drill is broken off and cleaned up. */
  readonly signal: AbortSignal;
}

/** A real hour, and the drain after it. */
const REAL_TIME_MORE_MS = 3 * 3_600_000;
/** After its time a drill has this long to notice; then the stage is taken down under it. */
const NOTICE_MS = 10_000;

/** Why a drill cannot be run at a place; null: it can. */
export function reasonNotToRun(drill: Drill, place: Place): string | null {
  if (drill.needs.includes('server') && place.server === null)
    return `${drill.name} stops or kills the server, which is not possible here`;
  if (drill.needs.includes('network') && place.road === null)
    return `${drill.name} breaks the network to the server, which is not possible here`;
  return null;
}

/** Runs a drill, takes down all it made and says what it came to. Throws only what the signal aborts with. */
export async function runDrill(drill: Drill, options: RunOptions): Promise<DrillReport> {
  const { place, seed, progress } = options;
  const account = newAccount();
  const from = performance.now();
  const limitMs = drill.limitMs + (options.realTime ? REAL_TIME_MORE_MS : 0);
  const tooLong = new AbortController();
  const timer = setTimeout(() => {
    tooLong.abort(new Error(`it did not end within ${Math.round(limitMs / 1000)} s`));
  }, limitMs);
  const signal = AbortSignal.any([options.signal, tooLong.signal]);
  const { stage, strike } = await setStage({ ...options, account, signal, progress: progress.update });
  try {
    await Promise.race([drill.run(stage), afterAbort(signal)]);
    if (account.held.length + account.broken.length === 0) account.must('anything was looked at', false);
  } catch (error) {
    account.must('the drill came to its end', false, reasonOf(error));
  } finally {
    clearTimeout(timer);
    for (const left of await strike()) account.must('everything was cleaned up', false, left);
  }
  options.signal.throwIfAborted();
  const { held, broken } = account;
  return {
    drill: drill.name,
    backend: place.backend,
    seed,
    verdict: broken.length === 0 ? 'held' : 'broken',
    figures: {
      ...account.figures,
      quick: options.quick,
      seconds: Math.round((performance.now() - from) / 100) / 10,
      held,
      broken,
    },
  };
}

/** Rejects some time after the signal: a drill that waits for something else must not hold the process. */
function afterAbort(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => setTimeout(() => reject(signal.reason), NOTICE_MS).unref());
  });
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? `${error.message} (${error.cause.message})` : error.message;
}
