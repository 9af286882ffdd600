/** The oldest finished job is settled after this time at the latest: batches fill at speed, and a lone job does not wait. */
const FLUSH_AFTER_MS = 5;
/** Settling calls under way at most: with one the store is idle while the worker reads its answer; a third only made smaller batches. */
const SETTLING_CALLS = 2;

/** How things stand in a lane. */
export interface SettleSituation {
  readonly finished: number;
  /** `performance.now()` at which the oldest of them ended. */
  readonly oldestAt: number;
  /** Held and running: what may still fill the batch. */
  readonly open: number;
  /** What the worker has in hand at its pace. */
  readonly target: number;
  /** Settling calls under way. */
  readonly calls: number;
  /** No batch is waited for. */
  readonly atOnce: boolean;
}

/** When the finished jobs are to be sent, by `performance.now()`; 0: now; null: not before something else happens. */
export function settleAt(situation: SettleSituation): number | null {
  const { finished, calls, target } = situation;
  if (finished === 0) return null;
  // A second call beside the first only for a batch worth while: the half of what is in hand, or the quarter with nothing else to do.
  const least = situation.open === 0 ? target / 4 : target / 2;
  if (calls > 0) return calls < SETTLING_CALLS && finished >= least ? 0 : null;
  if (situation.atOnce || situation.open === 0 || finished >= target / 4) return 0;
  return situation.oldestAt + FLUSH_AFTER_MS;
}
