import { defineJob, type JobDefinition } from '@surety/core';

/** What the worker is told. */
export interface StopArgs {
  readonly queue: string;
  readonly downstream: string;
}

/** A call to the downstream. */
export function callJob(queue: string): JobDefinition<{ readonly number: number }> {
  return defineJob('drill.call-downstream', { queue, retry: { base: 1000, cap: 5000 } });
}
