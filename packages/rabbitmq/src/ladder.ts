/** The shortest wait of the ladder; level n waits 2^n times as long. Smaller steps cost more hops than they gain. */
export const STEP_MS = 64;
/** Enough for a year: 64 ms * 2^29 is 397 days. */
export const LEVELS = 29;

/** One stay of a job in the ladder. Instants are ms by the clock of the broker. */
export interface Stay {
  readonly level: number;
  /** When it may go on to a level below, or out of the ladder. */
  readonly leavesAt: number;
  readonly dueAt: number;
}

/** The level of a job that has so long to wait; null: it is ready. All that stands in one level waits for the same time, so the first in is the first out. */
export function levelFor(leftMs: number): number | null {
  if (!(leftMs > 0)) return null;
  return Math.min(LEVELS - 1, Math.max(0, Math.floor(Math.log2(leftMs / STEP_MS))));
}

export function waitOf(level: number): number {
  return STEP_MS * 2 ** level;
}

/** Where a job waits next that is due at `dueAt`; null: it is ready. */
export function stayUntil(dueAt: number, now: number): Stay | null {
  const level = levelFor(dueAt - now);
  if (level === null) return null;
  // The lowest level has nothing below it: what is left is waited for there.
  return { level, dueAt, leavesAt: level === 0 ? dueAt : Math.ceil(now + waitOf(level)) };
}
