import type { Dedupe } from '@surety/core/contract';
import { type Context, startCall } from '../context.ts';
import { SCRIPTS } from '../script.ts';

/** G3.3. */
export function createDedupe(context: Context): Dedupe {
  return {
    async owner(queue, key, options) {
      const { keys } = context.queues.of(queue);
      const call = startCall('dedupe', options);
      const id = await context.connection.ask(SCRIPTS.dedupeOwner, keys.dedupeOwner, [key], call);
      return id === '' ? null : (id as string);
    },
    async forget(queue, key, options) {
      const { keys } = context.queues.of(queue);
      const call = startCall('dedupe', options);
      await context.connection.ask(SCRIPTS.dedupeForget, keys.dedupeForget, [key], call);
    },
  };
}
