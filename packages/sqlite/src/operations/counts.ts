import type { CallOptions, Count, QueueCounts } from '@surety/core/contract';
import type { SqliteCapabilities } from '../capabilities.ts';
import type { Connection } from '../connection.ts';
import { findQueue, type QueueRow } from '../queue-row.ts';
import type { ReadTransaction } from '../transaction.ts';

interface LeaseCounts {
  readonly live: number;
  readonly ended: number;
  readonly first_end: number | null;
}

interface DueCounts {
  readonly due: number;
  readonly first_due: number | null;
}

const exact = (value: number | null): Count => ({ value, kind: 'exact' });

/** Exact figures of one moment (G5.1, G5.2). What is due or lost counts as ready, moved or not. */
export function counts(
  connection: Connection,
  capabilities: SqliteCapabilities,
  name: string,
  { timeoutMs }: CallOptions,
): Promise<QueueCounts> {
  return connection.read('counts', timeoutMs, (tx) => {
    const queue = findQueue(tx.st, name);
    if (queue !== null) return countsOf(tx, queue, capabilities.priority.levels);
    const none = exact(0);
    return { ready: none, scheduled: none, leased: none, dead: none, oldestReadyAgeMs: exact(null) };
  });
}

function countsOf(tx: ReadTransaction, queue: QueueRow, levels: number): QueueCounts {
  const { st, now } = tx;
  const leases = st.countLeases.get(now, now, now, queue.id) as unknown as LeaseCounts;
  const waiting = st.countDue.get(queue.id, now) as unknown as DueCounts;
  const dues = [leases.first_end, waiting.first_due];
  for (let level = 0; level < levels; level += 1) {
    dues.push(Number(st.oldestTicket.get(queue.id, level, queue.id, level)?.['due'] ?? Infinity));
  }
  const oldest = Math.min(...dues.map((due) => due ?? Infinity));
  return {
    ready: exact(queue.ready + waiting.due + leases.ended),
    scheduled: exact(queue.scheduled - waiting.due),
    leased: exact(leases.live),
    dead: exact(queue.dead),
    oldestReadyAgeMs: exact(oldest === Infinity ? null : Math.max(0, now - oldest)),
  };
}
