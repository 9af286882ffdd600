import { failure } from '../call.ts';
import type { Context } from '../context.ts';

/** Throws LIMIT_EXCEEDED for a lease that the backend does not give. */
export function assertLeaseMs({ capabilities }: Context, leaseMs: number, operation: string): void {
  const { minMs, maxMs } = capabilities.lease;
  if (leaseMs >= minMs && leaseMs <= maxMs) return;
  throw failure('LIMIT_EXCEEDED', `A lease of ${leaseMs} ms is outside ${minMs} to ${maxMs} ms.`, operation, {
    remedy:
      'Choose another lease. SQS lets nobody hold a message for more than 12 hours: work that takes longer enqueues its own continuation.',
  });
}
