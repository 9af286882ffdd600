import type { Pacing } from '@surety/core/contract';
import { type Context, startCall } from '../context.ts';
import { within } from '../deadline.ts';

/** G9.1, G9.2. The claim statement itself looks at the pause, so it holds in every process with its next claim. */
export function createPacing(context: Context): Pacing {
  const { sql } = context;
  return {
    async pause(queue, options) {
      const call = startCall('pause', options);
      await context.connections.ask(sql.pause, [queue, context.channel, context.mayNotify], call);
      // Claims of this process that were sent before may still bring jobs: let them end first.
      await within(Promise.allSettled(context.queues.of(queue).claiming), call.deadline);
    },
    async resume(queue, options) {
      await context.connections.ask(
        sql.resume,
        [queue, context.channel, context.mayNotify],
        startCall('resume', options),
      );
    },
    async state(queue, options) {
      const { rows } = await context.connections.ask(sql.paused, [queue], startCall('pacing', options));
      return { paused: rows[0]?.['paused'] === true };
    },
  };
}
