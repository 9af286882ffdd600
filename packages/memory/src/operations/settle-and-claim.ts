import type { Claim, ClaimRequest, Settlement, SettleOutcome } from '@surety/core/contract';
import { assertClaim } from '../store/assert-limits.ts';
import type { Context } from '../store/context.ts';
import { leaseReady } from './lease-ready.ts';
import { settleAll } from './settle.ts';

/** Settles, then claims what is ready, in one step of the store. */
export async function settleAndClaim(
  context: Context,
  settlements: readonly Settlement[],
  request: ClaimRequest,
): Promise<{ readonly outcomes: readonly SettleOutcome[]; readonly claim: Claim }> {
  const { connection } = context;
  assertClaim(context, request, 'settleAndClaim');
  const act = (): { outcomes: SettleOutcome[]; claim: Claim } => {
    const outcomes = settleAll(context, settlements);
    return { outcomes, claim: leaseReady(context, request) };
  };
  const answer = await connection.call('settleAndClaim', request.timeoutMs, act);
  connection.lastClaimOk = performance.now();
  return answer;
}
