import type { Claim, ClaimRequest } from '@surety/core/contract';
import type { ClaimCells } from '../held-leases.ts';
import { type LeaseCells, type LeasePast, leaseOf, type SqliteLease } from '../job-row.ts';
import { allCells, cellsOf } from '../row-cells.ts';
import type { WriteTransaction } from '../transaction.ts';
import { moveDue, moveLost } from './sweep.ts';

/** The first page of a claim; what it weighs tells how many more jobs fit. */
const FIRST_PAGE = 16;
/**
 * Payload characters that one claim reads, give or take its first page: reading more would hold the event loop for tens
 * of milliseconds. A claim may always bring fewer jobs than asked for.
 */
const READ_BUDGET = 4 * 1024 * 1024;

/** Columns of read-queue-to-claim. */
type QueueCells = readonly [id: number, paused: number, firstDue: number | null, firstEnd: number | null];

/** The claim half of a transaction: moves what is due or lost, then leases the first ready jobs. */
export function take(tx: WriteTransaction, request: ClaimRequest): Claim {
  const { st } = tx;
  const found = st.readQueueToClaim.get(request.queue);
  if (found === undefined) return answer(tx, [], false);
  const [queue, paused, firstDue, firstEnd] = cellsOf<QueueCells>(found);
  if (firstDue !== null && firstDue <= tx.now) moveDue(tx, queue);
  if (firstEnd !== null && firstEnd <= tx.now) moveLost(tx, queue);
  if (paused === 1) return answer(tx, [], true);
  const again = repeatClaim(tx, queue, request);
  if (again !== null) return answer(tx, again, false);
  const rows = readTickets(tx, queue, request.max);
  const last = rows.at(-1);
  if (last === undefined) return answer(tx, [], false);
  const claim = st.addClaim.run(request.nonce, queue, tx.now + request.leaseMs, rows.length).lastInsertRowid;
  st.holdTaken.run(claim, queue, ...positionOf(last));
  st.dropTaken.run(queue, ...positionOf(last));
  tx.moved(queue, -rows.length, 0, 0);
  return answer(tx, leasesOf(tx, rows, request), false);
}

/** A claim whose answer was lost: the same leases under the same end, for as long as one of them lives (G2.6). */
function repeatClaim(tx: WriteTransaction, queue: number, request: ClaimRequest): SqliteLease[] | null {
  const claims = allCells<ClaimCells>(tx.st.findClaims.all(request.nonce, tx.now)).filter(
    ([, of]) => of === queue,
  );
  if (claims.length === 0) return null;
  const rows = claims.flatMap(([id]) => allCells<LeaseCells>(tx.st.readHeld.all(id)));
  return leasesOf(tx, rows, request);
}

function readTickets({ st }: WriteTransaction, queue: number, max: number): LeaseCells[] {
  const first = allCells<LeaseCells>(st.takePage.all(queue, -1, 0, 0, Math.min(max, FIRST_PAGE)));
  const last = first.at(-1);
  if (last === undefined || first.length === max || first.length < FIRST_PAGE) return first;
  const read = first.reduce((sum, row) => sum + row[9].length, 0);
  const fitting = Math.floor(((READ_BUDGET - read) / Math.max(1, read)) * first.length);
  const more = Math.min(max - first.length, fitting);
  return more < 1
    ? first
    : first.concat(allCells<LeaseCells>(st.takePage.all(queue, ...positionOf(last), more)));
}

/** Where a ticket stands in the order of its queue. */
function positionOf(row: LeaseCells): [priority: number, place: number, seq: number] {
  return [row[10], row[11], row[0]];
}

function leasesOf(
  tx: WriteTransaction,
  rows: readonly LeaseCells[],
  { queue, nonce }: ClaimRequest,
): SqliteLease[] {
  const again = rows.filter(([, fence]) => fence > 1).map(([seq]) => seq);
  if (again.length === 0) return rows.map((row) => leaseOf(row, undefined, queue, nonce, tx.now));
  const pasts = tx.st.readPasts.all(JSON.stringify(again)) as unknown as LeasePast[];
  const bySeq = new Map(pasts.map((past) => [past.seq, past]));
  return rows.map((row) => leaseOf(row, bySeq.get(row[0]), queue, nonce, tx.now));
}

function answer(tx: WriteTransaction, leases: readonly SqliteLease[], paused: boolean): Claim {
  return { leases, paused, leasedAt: tx.startedAt };
}
