import type {
  DeadLetterPage,
  DeadLetters,
  DeadSelection,
  DiscardOutcome,
  RedriveOutcome,
} from '@surety/core/contract';
import { SuretyError } from '@surety/core/errors';
import type { Connection } from '../connection.ts';
import { deadLetterOf, type ViewRow } from '../job-row.ts';
import { ADAPTER } from '../native-errors.ts';
import type { ReadTransaction, WriteTransaction } from '../transaction.ts';

/** The dead letters of a queue (G6). */
export function deadLetters(connection: Connection): DeadLetters {
  return {
    list: (request, { timeoutMs }) => connection.read('list', timeoutMs, (tx) => list(tx, request)),
    show: (queue, id, { timeoutMs }) =>
      connection.read('show', timeoutMs, ({ st, now }) => {
        const row = st.findJob.get(queue, id) as unknown as ViewRow | undefined;
        return row === undefined || row.dead_at === null ? null : deadLetterOf(row, queue, now);
      }),
    redrive: (queue, selection, { timeoutMs }) =>
      connection.write('redrive', timeoutMs, (tx) => redrive(tx, queue, selection)),
    discard: (queue, selection, { timeoutMs }) =>
      connection.write('discard', timeoutMs, (tx) => discard(tx, queue, selection)),
  };
}

type ListRequest = Parameters<DeadLetters['list']>[0];

function list(tx: ReadTransaction, { queue, limit, cursor, type }: ListRequest): DeadLetterPage {
  const [at, seq] = cursor === null ? [Number.MAX_SAFE_INTEGER, 0] : readCursor(cursor);
  // One more than asked for tells whether there is a next page.
  const found = (type === null
    ? tx.st.listDead.all(queue, at, seq, limit + 1)
    : tx.st.listDeadOfType.all(queue, type, at, seq, limit + 1)) as unknown as ViewRow[];
  const page = found.slice(0, limit);
  const last = page.at(-1);
  const more = found.length > page.length && last !== undefined;
  return {
    entries: page.map((row) => deadLetterOf(row, queue, tx.now)),
    cursor: more ? `${last.dead_at}.${last.seq}` : null,
  };
}

function readCursor(cursor: string): [number, number] {
  const match = /^(\d{1,15})\.(\d{1,15})$/.exec(cursor);
  if (match !== null) return [Number(match[1]), Number(match[2])];
  throw new SuretyError('OPTIONS_INVALID', 'The cursor is not one of this backend.', {
    adapter: ADAPTER,
    operation: 'list',
  });
}

interface DeadRow {
  readonly seq: number;
  readonly queue: number;
  readonly id: string;
  readonly priority: number;
  readonly dedupe_key: string | null;
  readonly deliveries: number;
}

function redrive(tx: WriteTransaction, queue: string, selection: DeadSelection): RedriveOutcome[] {
  if ('ids' in selection) return selection.ids.map((id) => redriveById(tx, queue, id));
  const { type, limit } = selection;
  const rows = tx.st.pickDead.all(queue, type, type, tx.now, limit) as unknown as DeadRow[];
  const redriven = rows.map((row): RedriveOutcome => {
    redriveOne(tx, queue, row);
    return { status: 'redriven', id: row.id };
  });
  const left = limit - redriven.length;
  const conflicts = left > 0 ? tx.st.pickConflicts.all(queue, type, type, tx.now, left) : [];
  return redriven.concat(
    conflicts.map((row) => ({ status: 'conflict', id: String(row['id']), of: String(row['holder']) })),
  );
}

function redriveById(tx: WriteTransaction, queue: string, id: string): RedriveOutcome {
  const row = tx.st.findDead.get(queue, id) as unknown as DeadRow | undefined;
  if (row === undefined) return { status: 'not-found', id };
  const holder = row.dedupe_key === null ? undefined : tx.st.findKey.get(row.queue, row.dedupe_key, tx.now);
  if (holder !== undefined && holder['id'] !== id)
    return { status: 'conflict', id, of: String(holder['id']) };
  redriveOne(tx, queue, row);
  return { status: 'redriven', id };
}

function redriveOne(tx: WriteTransaction, queue: string, row: DeadRow): void {
  const one = JSON.stringify([row.seq]);
  tx.st.dropDead.run(one);
  tx.st.resetPast.run(tx.now, one);
  tx.st.insertTicket.run(row.queue, row.priority, tx.now, row.seq, tx.now, row.deliveries + 1);
  tx.moved(row.queue, 1, 0, -1);
  tx.woken.add(queue);
}

function discard(tx: WriteTransaction, queue: string, selection: DeadSelection): DiscardOutcome[] {
  if ('ids' in selection) {
    return selection.ids.map((id): DiscardOutcome => {
      const row = tx.st.findDead.get(queue, id) as unknown as DeadRow | undefined;
      if (row === undefined) return { status: 'not-found', id };
      discardAll(tx, [row]);
      return { status: 'discarded', id };
    });
  }
  const { type, limit } = selection;
  const rows = tx.st.pickAnyDead.all(queue, type, type, limit) as unknown as DeadRow[];
  if (rows.length > 0) discardAll(tx, rows);
  return rows.map(({ id }) => ({ status: 'discarded', id }));
}

function discardAll(tx: WriteTransaction, rows: readonly Pick<DeadRow, 'seq' | 'queue'>[]): void {
  const seqs = JSON.stringify(rows.map(({ seq }) => seq));
  tx.st.dropDead.run(seqs);
  tx.st.dropPasts.run(seqs);
  tx.st.dropJobs.run(seqs);
  for (const { queue } of rows) tx.moved(queue, 0, 0, -1);
}
