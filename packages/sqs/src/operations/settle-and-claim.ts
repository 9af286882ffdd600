import type { Claim, ClaimRequest, Settlement, SettleOutcome } from '@surety/core/contract';
import { type Context, sessionOf } from '../context.ts';
import { claim } from './claim.ts';
import { settle } from './settle.ts';

/**
 * Both side by side, for a queue that is deep: what ends makes room for what comes. Where the last answers were not full nothing is asked for; a request
 * that does not wait may cost as much as a job and bring none, and the next claim waits.
 */
export async function settleAndClaim(
  context: Context,
  settlements: readonly Settlement[],
  request: ClaimRequest,
): Promise<{ readonly outcomes: readonly SettleOutcome[]; readonly claim: Claim }> {
  const session = sessionOf(context, 'settleAndClaim');
  const { queue, timeoutMs } = request;
  if (settlements.length > 0 && !session.lane(queue).isDeep) {
    const outcomes = await settle(context, settlements, { timeoutMs });
    return { outcomes, claim: nothing(session.pauses.known(queue) === true) };
  }
  const [outcomes, claimed] = await Promise.all([
    settle(context, settlements, { timeoutMs }),
    claim(context, request).catch((error: unknown) => {
      // What was settled is settled, and has to be told; the next claim tells what is wrong with claiming.
      if (settlements.length === 0) throw error;
      return nothing(false);
    }),
  ]);
  return { outcomes, claim: claimed };
}

function nothing(paused: boolean): Claim {
  return { leases: [], paused, leasedAt: performance.now() };
}
