import { failure } from '../call.ts';
import type { Context } from '../context.ts';

/** Throws LIMIT_EXCEEDED for a lease that the backend does not give. */
export function assertLeaseMs({ capabilities }: Context, leaseMs: number, operation: string): void {
  const { minMs, maxMs } = capabilities.lease;
  if (leaseMs >= minMs && leaseMs <= maxMs) return;
  throw failure('LIMIT_EXCEEDED', `A lease of ${leaseMs} ms is outside ${minMs} to ${maxMs} ms.`, operation, {
    remedy:
      'Choose a shorter lease, or raise consumer_timeout at the broker and the option consumerTimeoutMs with it.',
  });
}
