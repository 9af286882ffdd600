import type { JobView, Lookup } from '@surety/core/contract';
import type { Connection } from '../connection.ts';
import { deadLetterOf, type Standing, type ViewRow, viewOf } from '../job-row.ts';
import type { ReadTransaction } from '../transaction.ts';

type FinishedRow = Omit<ViewRow, 'seq' | 'queue' | 'due' | 'dead_at' | 'reason'> & {
  readonly outcome: 'completed' | 'cancelled';
};

interface HolderRow {
  readonly until: number;
  readonly fence: number;
}

/** Finds one job by id (G5.4), also an ended one where `keepCompletedMs` keeps its record. */
export function lookup(connection: Connection): Lookup {
  const { keepCompletedMs } = connection.options;
  return {
    find: (queue, id, { timeoutMs }) =>
      connection.read('find', timeoutMs, (tx): JobView | null => {
        const row = tx.st.findJob.get(queue, id) as unknown as ViewRow | undefined;
        if (row === undefined) return findFinished(tx, queue, id, keepCompletedMs);
        if (row.dead_at !== null) return deadLetterOf(row, queue, tx.now);
        return viewOf(row, queue, standingOf(tx, row), tx.now);
      }),
  };
}

function standingOf({ st, now }: ReadTransaction, row: ViewRow): Standing {
  const holder = st.findHolder.get(row.queue, row.seq) as unknown as HolderRow | undefined;
  if (holder !== undefined && holder.until > now) {
    return { state: 'leased', dueInMs: null, deliveries: holder.fence };
  }
  // A lease that has ended and was not moved yet: ready since its end.
  const due = holder?.until ?? row.due;
  const deliveries = holder?.fence ?? null;
  return { state: due > now ? 'scheduled' : 'ready', dueInMs: due - now, deliveries };
}

function findFinished(
  { st, now }: ReadTransaction,
  queue: string,
  id: string,
  keepMs: number,
): JobView | null {
  if (keepMs === 0) return null;
  const row = st.findFinished.get(queue, id, now - keepMs) as unknown as FinishedRow | undefined;
  if (row === undefined) return null;
  return viewOf(row, queue, { state: row.outcome, dueInMs: null, deliveries: null }, now);
}
