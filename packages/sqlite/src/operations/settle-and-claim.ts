import type { Claim, ClaimRequest, Settlement, SettleOutcome } from '@surety/core/contract';
import type { SqliteCapabilities } from '../capabilities.ts';
import type { Connection } from '../connection.ts';
import { checkClaim, claim } from './claim.ts';
import { settleAll } from './settle.ts';
import { take } from './take.ts';

/** Both in one transaction (G2.9). Never waits. Throws when the transaction fails: the settlements are then unknown. */
export async function settleAndClaim(
  connection: Connection,
  capabilities: SqliteCapabilities,
  settlements: readonly Settlement[],
  request: ClaimRequest,
): Promise<{ readonly outcomes: readonly SettleOutcome[]; readonly claim: Claim }> {
  if (settlements.length === 0) {
    return { outcomes: [], claim: await claim(connection, capabilities, { ...request, waitMs: 0 }) };
  }
  checkClaim(capabilities, request);
  const { keepCompletedMs } = connection.options;
  const answer = await connection.write('settleAndClaim', request.timeoutMs, (tx) => ({
    outcomes: settleAll(tx, settlements, keepCompletedMs),
    claim: take(tx, request),
  }));
  connection.noteClaim();
  return answer;
}
