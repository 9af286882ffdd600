import { defineJob, type JobDefinition } from '@surety/core';

/** What the workers of a traced run do. */
export const work: JobDefinition<unknown, unknown> = defineJob('work', {
  retry: { maxAttempts: 5, base: '20ms' },
  timeout: '5s',
});
