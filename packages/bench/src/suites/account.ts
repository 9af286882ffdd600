/** What was stored, what handlers saw and what is left, all of one run. */
export interface Account {
  readonly stored: number;
  /** How many jobs had to be handled; null: whatever came until the worker was stopped. */
  readonly expected: number | null;
  /** Handlers at the same time, over all workers. */
  readonly concurrency: number;
  readonly starts: number;
  readonly distinct: number;
  /** False where the store still held jobs long after the last handler. */
  readonly emptied: boolean;
  readonly left: number;
}

/**
 * Why a run does not count, or null: every job that was handled was handled once and is gone, and every other job is still
 * there. A worker that is stopped in the middle may leave what it had in hand uncompleted, one job a handler: delivery at
 * least once permits it, and some do.
 */
export function failureOf(account: Account): string | null {
  const { stored, expected, concurrency, starts, distinct, emptied, left } = account;
  if (expected !== null && distinct < expected) return `${expected - distinct} jobs were never handled`;
  if (distinct === 0) return 'no job was handled';
  if (starts > distinct) return `${starts - distinct} jobs were handled more than once`;
  const tooMany = left - (stored - distinct);
  if (tooMany < 0) return `${-tooMany} jobs are gone that were never handled`;
  if (tooMany > (expected === null ? concurrency : 0) || !emptied) {
    return `${distinct} of ${stored} jobs were handled, but ${left} are still stored`;
  }
  return null;
}
