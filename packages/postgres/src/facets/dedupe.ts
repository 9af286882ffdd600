import type { Dedupe } from '@surety/core/contract';
import { type Context, startCall } from '../context.ts';

/** G3.3. */
export function createDedupe(context: Context): Dedupe {
  const { sql } = context;
  return {
    async owner(queue, key, options) {
      const { rows } = await context.connections.ask(
        sql.dedupeOwners,
        [[queue], [key], '{}'],
        startCall('dedupe', options),
      );
      return (rows[0]?.['id'] as string | undefined) ?? null;
    },
    async forget(queue, key, options) {
      await context.connections.ask(sql.dedupeForget, [queue, key], startCall('dedupe', options));
    },
  };
}
