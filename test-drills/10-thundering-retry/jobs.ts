import { defineJob, type JobDefinition } from '@surety/core';

/** What the workers are told. */
export interface DependentArgs {
  readonly queue: string;
  /** While this file is there, the dependency is down. */
  readonly outage: string;
}

/** Attempts after the first start come between 2.5 and 7.5 s later, and the next ones within 5 to 15 s. */
const BASE_MS = 2500;
const CAP_MS = 10_000;

/** A job that needs the dependency. */
export function dependentJob(queue: string): JobDefinition<{ readonly number: number }> {
  return defineJob('drill.dependent', { queue, retry: { maxAttempts: 8, base: BASE_MS, cap: CAP_MS } });
}

/** The delay that a failed attempt has before its jitter: min(base * 2^attempt, cap). */
export function plainDelayMs(attempt: number): number {
  return Math.min(BASE_MS * 2 ** attempt, CAP_MS);
}
