import { defineJob, type JobDefinition } from '@surety/core';
import type { Pattern } from './shop.ts';

/** What the workers are told. */
export interface DeliverTwiceArgs {
  readonly queue: string;
  readonly shop: string;
}

/** What a job is about. */
export interface Subject {
  readonly subject: string;
}

/** The job whose handler is written in a pattern. */
export function jobOf(pattern: Pattern, queue: string): JobDefinition<Subject> {
  return defineJob(`drill.${pattern}`, { queue, retry: { base: 100, cap: 1000 } });
}
