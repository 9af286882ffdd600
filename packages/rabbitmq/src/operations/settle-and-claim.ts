import type { Claim, ClaimRequest, Settlement, SettleOutcome } from '@surety/core/contract';
import { startCall } from '../call.ts';
import type { Context } from '../context.ts';
import { fromNative } from '../native-errors.ts';
import { assertClaim, claimNow } from './claim.ts';
import { settleAll } from './settle.ts';

/** Settles, then leases what the consumer has brought meanwhile: an acknowledgement makes the broker send the next job by itself. */
export async function settleAndClaim(
  context: Context,
  settlements: readonly Settlement[],
  request: ClaimRequest,
): Promise<{ readonly outcomes: readonly SettleOutcome[]; readonly claim: Claim }> {
  assertClaim(context, request, 'settleAndClaim');
  const call = startCall('settleAndClaim', request);
  const outcomes = await settleAll(context, settlements, call);
  try {
    return { outcomes, claim: await claimNow(context, request, call) };
  } catch (native) {
    // What was settled is settled, and has to be told; the next claim tells what is wrong with claiming.
    if (settlements.length === 0) throw fromNative(native, 'settleAndClaim');
    return { outcomes, claim: { leases: [], paused: false, leasedAt: performance.now() } };
  }
}
