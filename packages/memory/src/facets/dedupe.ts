import type { Dedupe } from '@surety/core/contract';
import type { Context } from '../store/context.ts';

/** Who holds a key. Profile `strong` only. */
export function dedupe(context: Context): Dedupe {
  const { connection, store } = context;
  return {
    owner: (name, key, options) =>
      connection.call('owner', options.timeoutMs, () => store.queue(name).dedupe.owner(key)),
    forget: (name, key, options) =>
      connection.call('forget', options.timeoutMs, () => store.queue(name).dedupe.forget(key)),
  };
}
