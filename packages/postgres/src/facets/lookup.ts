import { JOB_ID, type Lookup } from '@surety/core/contract';
import { type Context, startCall } from '../context.ts';
import { toView } from '../job-view.ts';

/** G5.4. */
export function createLookup(context: Context): Lookup {
  return {
    async find(queue, id, options) {
      if (!JOB_ID.test(id)) return null;
      const { rows } = await context.connections.ask(
        context.sql.lookup,
        [queue, id],
        startCall('lookup', options),
      );
      return rows[0] === undefined ? null : toView(rows[0]);
    },
  };
}
