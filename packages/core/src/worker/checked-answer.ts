import type { Claim, SettleOutcome } from '../contract/index.ts';
import { SuretyError } from '../errors/index.ts';

/**
 * The claim, if it is one. A lease cannot have begun after its answer was read, so an adapter's clock fault is cut off here: a
 * deadline too far away would keep a job that is somebody else's.
 */
export function checkedClaim(claim: Claim): Claim {
  if (!Array.isArray(claim?.leases) || !Number.isFinite(claim.leasedAt))
    throw broken('claim', 'a claim without leases and their beginning');
  const now = performance.now();
  return claim.leasedAt <= now ? claim : { ...claim, leasedAt: now };
}

/** The outcomes of a settle, if they are a list. What is missing in it counts as unknown. */
export function checkedOutcomes(outcomes: readonly SettleOutcome[]): readonly SettleOutcome[] {
  if (!Array.isArray(outcomes)) throw broken('settle', 'no list of outcomes');
  return outcomes;
}

function broken(operation: string, what: string): SuretyError {
  return new SuretyError('ADAPTER_BROKE_CONTRACT', `The adapter answered ${what}.`, { operation });
}
