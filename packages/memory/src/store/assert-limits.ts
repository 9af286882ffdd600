import type { ClaimRequest } from '@surety/core/contract';
import { SuretyError } from '@surety/core/errors';
import type { Context } from './context.ts';

/** Throws LIMIT_EXCEEDED for a lease that the backend does not give. */
export function assertLeaseMs(
  context: Context,
  leaseMs: number,
  operation: 'claim' | 'renew' | 'settleAndClaim',
): void {
  const { minMs, maxMs } = context.capabilities.lease;
  if (leaseMs >= minMs && leaseMs <= maxMs) return;
  throw exceeded(`A lease of ${leaseMs} ms is outside ${minMs} to ${maxMs} ms.`, operation);
}

/** Throws LIMIT_EXCEEDED for a claim that asks for more than the backend gives. */
export function assertClaim(
  context: Context,
  request: ClaimRequest,
  operation: 'claim' | 'settleAndClaim',
): void {
  assertLeaseMs(context, request.leaseMs, operation);
  const { maxItems } = context.capabilities.batch;
  if (request.max >= 1 && request.max <= maxItems) return;
  throw exceeded(`A claim of ${request.max} jobs is outside 1 to ${maxItems}.`, operation);
}

function exceeded(what: string, operation: string): SuretyError {
  return new SuretyError('LIMIT_EXCEEDED', what, { adapter: 'memory', operation });
}
