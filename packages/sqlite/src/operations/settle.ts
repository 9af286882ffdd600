import type { CallOptions, Settlement, SettleOutcome } from '@surety/core/contract';
import { isSuretyError } from '@surety/core/errors';
import type { Connection } from '../connection.ts';
import { findHeld, type Held, type HeldClaim } from '../held-leases.ts';
import { mapNative } from '../native-errors.ts';
import { type Past, type PastRow, pastAfterFailure, pastAfterRelease } from '../past.ts';
import type { WriteTransaction } from '../transaction.ts';

const SETTLED: SettleOutcome = Object.freeze({ status: 'settled' });
const LOST: SettleOutcome = Object.freeze({ status: 'lease-lost' });

/** Records of ended jobs removed for each one added: more than one, so that they end up gone. */
const TRIM_PER_RECORD = 2;

/** Ends leases in one transaction. A failure leaves all of them `unknown`: settling again is safe. */
export async function settle(
  connection: Connection,
  settlements: readonly Settlement[],
  { timeoutMs }: CallOptions,
): Promise<readonly SettleOutcome[]> {
  if (settlements.length === 0) return [];
  const { keepCompletedMs } = connection.options;
  try {
    return await connection.write('settle', timeoutMs, (tx) => settleAll(tx, settlements, keepCompletedMs));
  } catch (thrown) {
    return allUnknown(connection, settlements, thrown);
  }
}

/** The answer to settlements whose transaction failed. */
function allUnknown(
  connection: Connection,
  settlements: readonly Settlement[],
  thrown: unknown,
): SettleOutcome[] {
  const error = isSuretyError(thrown) ? thrown : mapNative(thrown, 'settle', connection.options.file);
  return settlements.map(() => ({ status: 'unknown', error }));
}

/** The settle half of a transaction. */
export function settleAll(
  tx: WriteTransaction,
  settlements: readonly Settlement[],
  keepCompletedMs: number,
): SettleOutcome[] {
  const outcomes: SettleOutcome[] = settlements.map(() => LOST);
  const completed: Completed = { seqs: [], cancelled: [], withPast: [] };
  const returned: Returned[] = [];
  for (const claim of findHeld(
    tx,
    settlements.map(({ lease }) => lease),
  )) {
    letGo(tx, claim);
    for (const held of claim.leases) {
      // Only the first settlement of a lease counts (G2.8).
      const [index] = held.indexes;
      const settlement = settlements[index];
      if (settlement === undefined) continue;
      outcomes[index] = SETTLED;
      if (settlement.kind === 'complete') complete(completed, held, settlement.outcome);
      else returned.push({ held, settlement });
    }
  }
  if (completed.seqs.length + completed.cancelled.length > 0) dropCompleted(tx, completed, keepCompletedMs);
  if (returned.length > 0) giveBack(tx, returned);
  return outcomes;
}

function letGo({ st }: WriteTransaction, claim: HeldClaim): void {
  if (claim.leases.length === claim.held) {
    st.dropAllHeld.run(claim.id);
    st.dropClaim.run(claim.id);
    return;
  }
  st.dropHeld.run(claim.id, JSON.stringify(claim.leases.map(({ seq }) => seq)));
  st.shrinkClaim.run(claim.leases.length, claim.id);
}

interface Completed {
  readonly seqs: number[];
  readonly cancelled: number[];
  /** Those that have a row in surety_past: all that were claimed before. */
  readonly withPast: number[];
}

function complete(completed: Completed, { seq, fence }: Held, outcome: 'completed' | 'cancelled'): void {
  if (outcome === 'cancelled') completed.cancelled.push(seq);
  else completed.seqs.push(seq);
  if (fence > 1) completed.withPast.push(seq);
}

function dropCompleted(tx: WriteTransaction, { seqs, cancelled, withPast }: Completed, keepMs: number): void {
  const { st, now } = tx;
  if (keepMs > 0) {
    st.keepFinished.run(now, 'completed', JSON.stringify(seqs));
    st.keepFinished.run(now, 'cancelled', JSON.stringify(cancelled));
    st.trimFinished.run(now - keepMs, (seqs.length + cancelled.length) * TRIM_PER_RECORD);
  }
  st.dropJobs.run(JSON.stringify(cancelled.length === 0 ? seqs : seqs.concat(cancelled)));
  if (withPast.length > 0) st.dropPasts.run(JSON.stringify(withPast));
}

/** A lease that ends without its job. */
interface Returned {
  readonly held: Held;
  readonly settlement: Exclude<Settlement, { readonly kind: 'complete' }>;
}

interface SettledRow extends PastRow {
  readonly seq: number;
  readonly queue: number;
  readonly type: string;
  readonly priority: number;
}

function giveBack(tx: WriteTransaction, returned: readonly Returned[]): void {
  const rows = tx.st.readSettled.all(JSON.stringify(returned.map(({ held }) => held.seq)));
  const bySeq = new Map((rows as unknown as SettledRow[]).map((row) => [row.seq, row]));
  for (const { held, settlement } of returned) {
    const row = bySeq.get(held.seq);
    if (row === undefined) throw new Error(`Job ${held.seq} is held and not stored.`);
    giveBackOne(tx, row, held, settlement);
  }
}

function giveBackOne(
  tx: WriteTransaction,
  row: SettledRow,
  held: Held,
  settlement: Returned['settlement'],
): void {
  const { now } = tx;
  if (settlement.kind === 'bury') {
    writePast(tx, row.seq, pastAfterFailure(row, held.fence, settlement.error, now), now);
    tx.st.insertDead.run(row.seq, row.queue, now, row.type, settlement.error.code);
    tx.moved(row.queue, 0, 0, 1);
    return;
  }
  const due = now + settlement.delayMs;
  const past =
    settlement.kind === 'retry'
      ? pastAfterFailure(row, held.fence, settlement.error, now)
      : pastAfterRelease(row, held.fence, settlement.reason, now);
  writePast(tx, row.seq, past, due);
  tx.woken.add(settlement.lease.queue);
  if (settlement.delayMs > 0) {
    tx.st.insertScheduled.run(row.queue, due, row.seq, row.priority, held.fence + 1);
    tx.moved(row.queue, 0, 1, 0);
    return;
  }
  const place = keepsPlace(settlement) ? held.place : due;
  tx.st.insertTicket.run(row.queue, row.priority, place, row.seq, due, held.fence + 1);
  tx.moved(row.queue, 1, 0, 0);
}

/** A job that was only passed back goes on from where it stood; one that asked for another try stands in line again. */
function keepsPlace(settlement: Returned['settlement']): boolean {
  return settlement.kind === 'release' && (settlement.reason === 'stop' || settlement.reason === 'unstarted');
}

function writePast({ st }: WriteTransaction, seq: number, past: Past, due: number): void {
  st.writePast.run(
    seq,
    past.attempt,
    past.deliveries,
    past.lostClaims,
    past.interruptions,
    past.redrives,
    past.lossBackedOff ? 1 : 0,
    past.unknownTypeSince,
    due,
    past.history,
  );
}
