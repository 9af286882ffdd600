import { JOB_ID, type JobView, type Lookup } from '@surety/core/contract';
import { type Context, startCall } from '../context.ts';
import { toView } from '../job-view.ts';
import { SCRIPTS } from '../script.ts';

/** G5.4. */
export function createLookup(context: Context): Lookup {
  return {
    async find(queue, id, options) {
      if (!JOB_ID.test(id)) return null;
      const { keys } = context.queues.of(queue);
      const call = startCall('lookup', options);
      const reply = await context.connection.ask(SCRIPTS.lookup, keys.lookup, [id], call);
      const [state, body, counters, errors, dueAt, now, , lost] = reply as [...texts: (string | undefined)[]];
      if (state === undefined || body === undefined) return null;
      return toView({
        id,
        queue,
        state: state as JobView['state'],
        body,
        counters: counters ?? '',
        errors: errors ?? '',
        now: Number(now),
        dueAt: dueAt === '' || dueAt === undefined ? null : Number(dueAt),
        isLost: lost === '1',
      });
    },
  };
}
