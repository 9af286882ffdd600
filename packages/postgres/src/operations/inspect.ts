import type { CallOptions, Count, QueueCounts } from '@surety/core/contract';
import { type Context, startCall } from '../context.ts';

interface CountsRow {
  readonly ready: number;
  readonly scheduled: number;
  readonly leased: number;
  readonly dead: number;
  readonly oldest_ms: number | null;
}

/** G5.1, G5.2. */
export async function counts(context: Context, queue: string, options: CallOptions): Promise<QueueCounts> {
  const { rows } = await context.connections.ask(context.sql.counts, [queue], startCall('counts', options));
  const row = rows[0] as unknown as CountsRow;
  const exact = (value: number | null): Count => ({ value, kind: 'exact' });
  return {
    ready: exact(row.ready),
    scheduled: exact(row.scheduled),
    leased: exact(row.leased),
    dead: exact(row.dead),
    oldestReadyAgeMs: exact(row.oldest_ms === null ? null : Math.max(0, row.oldest_ms)),
  };
}

/** G5.3. */
export async function queues(context: Context, options: CallOptions): Promise<readonly string[]> {
  const { rows } = await context.connections.ask(context.sql.queues, [], startCall('queues', options));
  return rows.map(({ queue }) => queue as string);
}
