import type { JobView, Lookup } from '@surety/core/contract';
import type { Context } from '../store/context.ts';
import { viewOf } from '../store/lease-view.ts';

/** Finds one job by id. Profile `strong` only. */
export function lookup(context: Context): Lookup {
  const { connection, store } = context;
  return {
    find: (name, id, options) =>
      connection.call('find', options.timeoutMs, (): JobView | null => {
        const copy = store.queue(name).copies(id)[0];
        return copy === undefined ? null : viewOf(copy, store.clock.now());
      }),
  };
}
