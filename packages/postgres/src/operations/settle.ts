import type { CallOptions, Settlement, SettleOutcome } from '@surety/core/contract';
import { type Context, startCall } from '../context.ts';
import { prepareSettlements } from '../settlements.ts';

/** Ends leases (G2.1, G2.8). What was not answered is `unknown`, whether it was sent or not: settling again is safe. */
export async function settle(
  context: Context,
  settlements: readonly Settlement[],
  options: CallOptions,
): Promise<readonly SettleOutcome[]> {
  const call = startCall('settle', options);
  const prepared = prepareSettlements(settlements, context.options.keepCompletedMs > 0);
  if (prepared.empty) return prepared.outcomes;
  const result = await context.connections.attempt(...prepared.statement(context, null), call);
  if (!result.ok) {
    const { error } = result;
    if (error.code === 'BACKEND_CLOSED') throw error;
    return settlements.map(() => ({ status: 'unknown', error }));
  }
  const row = result.rows[0] as {
    readonly completed: number;
    readonly completed_ids: readonly string[] | null;
  };
  prepared.answered(context, row.completed, row.completed_ids);
  return prepared.outcomes;
}
