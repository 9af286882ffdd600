import { defineJob, type JobDefinition } from '@surety/core';

/** What the workers are told. */
export interface SkewArgs {
  readonly queue: string;
}

/** Enqueues a child that is due after `delayMs`. */
export function parentJob(queue: string): JobDefinition<{ readonly delayMs: number }> {
  return defineJob('drill.parent', { queue, retry: { base: 100, cap: 1000 } });
}

/** Says when it runs. */
export function childJob(queue: string): JobDefinition<{ readonly parent: string }> {
  return defineJob('drill.child', { queue, retry: { base: 100, cap: 1000 } });
}

/** Outlives its lease, so that it is renewed. */
export function longJob(queue: string): JobDefinition<{ readonly workMs: number }> {
  return defineJob('drill.long', { queue, retry: { base: 100, cap: 1000 } });
}

/** Fails once, and waits for its retry. */
export function failingJob(queue: string): JobDefinition<{ readonly number: number }> {
  return defineJob('drill.failing', { queue, retry: { base: 500, cap: 1000 } });
}
