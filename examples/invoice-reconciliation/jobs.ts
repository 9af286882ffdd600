import { defineJob } from '@surety/core';

/** Tests do not wait for an hour. */
const baseMs = Number(process.env['RETRY_BASE_MS'] ?? 60_000);

export const QUEUE = 'invoices';

// region: jobs
/** Reads the files of one day and enqueues a job for each invoice. Tried for about an hour: files come late. */
export const reconcileDay = defineJob<{ day: string }>('invoices.reconcile-day', {
  queue: QUEUE,
  retry: { maxAttempts: 6, base: baseMs, cap: '1h' },
});

/** One line of the invoices, so that one bad line is one dead letter and the others go on. */
export const reconcileInvoice = defineJob<{ day: string; line: number }>('invoices.reconcile', {
  queue: QUEUE,
  retry: { maxAttempts: 4, base: baseMs },
});
// endregion

/** The day before today, in UTC: `2026-05-04`. */
export function yesterday(): string {
  return new Date(Date.now() - 86_400_000).toISOString().slice(0, 10);
}
