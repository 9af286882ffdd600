import { defineJob } from '@surety/core';

/** A report of so many pages. A long one takes longer than any stop is willing to wait. */
export const buildReport = defineJob<{ report: string; pages: number }>('report.build', {
  queue: 'reports',
  timeout: '10m',
});
