import { defineJob, type JobDefinition } from '@surety/core';

/** What the workers are told. */
export interface ReleaseArgs {
  readonly queue: string;
  /** The release that fails everything. */
  readonly isBroken: boolean;
}

const BASE_MS = 400;
const CAP_MS = 3200;
/** So many that the flood ends before they are spent: that takes 22 s at least. */
export const ATTEMPTS = 16;
/** So few that the flood spends them. */
export const FEW_ATTEMPTS = 3;

/** Any job; the enqueue sets the limit of those that have few attempts. */
export function anyJob(queue: string): JobDefinition<{ readonly number: number }> {
  return defineJob('drill.any', { queue, retry: { maxAttempts: ATTEMPTS, base: BASE_MS, cap: CAP_MS } });
}

/** The shortest delay after a failed attempt: half of min(base * 2^attempt, cap). */
function leastDelayMs(attempt: number): number {
  return Math.min(BASE_MS * 2 ** attempt, CAP_MS) / 2;
}

/** The most starts that one job can have within a time from its first one on. */
export function mostStarts(withinMs: number, limit: number): number {
  let starts = 1;
  for (let at = leastDelayMs(1); at <= withinMs && starts < limit; at += leastDelayMs(starts)) starts += 1;
  return starts;
}
