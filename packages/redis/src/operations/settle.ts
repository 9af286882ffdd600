import { randomUUID } from 'node:crypto';
import type { CallOptions, Settlement, SettleOutcome } from '@surety/core/contract';
import { type Context, startCall } from '../context.ts';
import type { Call } from '../deadline.ts';
import { SCRIPTS } from '../script.ts';
import {
  answerSettlements,
  lostOutcomes,
  prepareSettlements,
  type SettleCall,
  scriptValues,
} from '../settlements.ts';

/** Ends leases (G2.1, G2.8). What was not answered is `unknown`, whether it was sent or not: settling again is safe. */
export async function settle(
  context: Context,
  settlements: readonly Settlement[],
  options: CallOptions,
): Promise<readonly SettleOutcome[]> {
  const outcomes = lostOutcomes(settlements);
  const calls = prepareSettlements(settlements, context.options.keepCompletedMs > 0);
  await settleCalls(context, calls, outcomes, startCall('settle', options));
  return outcomes;
}

/** Sends calls that settle and claim nothing, and writes their answers into the outcomes. */
export async function settleCalls(
  context: Context,
  calls: readonly SettleCall[],
  outcomes: SettleOutcome[],
  call: Call,
): Promise<void> {
  await Promise.all(calls.map((each) => settleOne(context, each, outcomes, call)));
}

async function settleOne(
  context: Context,
  settling: SettleCall,
  outcomes: SettleOutcome[],
  call: Call,
): Promise<void> {
  const { keys } = context.queues.of(settling.queue);
  const values = scriptValues(context.options, settling, 0, 0, randomUUID(), false);
  const result = await context.connection.attempt(SCRIPTS.settleAndClaim, keys.settleAndClaim, values, call);
  if (result.ok) return answerSettlements(outcomes, settling, (result.reply as readonly [number[]])[0]);
  const { error } = result;
  if (error.code === 'BACKEND_CLOSED') throw error;
  for (const index of settling.indexes) outcomes[index] = { status: 'unknown', error };
}
