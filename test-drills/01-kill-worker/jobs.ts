import { defineJob, type JobDefinition } from '@surety/core';

/** What the workers are told. */
export interface KillWorkerArgs {
  readonly queue: string;
  readonly effects: string;
}

/** Enough attempts for every death of the drill; retries come soon, none is planned. */
export function drillJob(queue: string): JobDefinition<{ readonly number: number }> {
  return defineJob('drill.kill-worker', { queue, retry: { maxAttempts: 5, base: 100, cap: 1000 } });
}
