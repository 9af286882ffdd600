import type { CallOptions, Pacing } from '@surety/core/contract';
import { type Context, startCall } from '../context.ts';
import { within } from '../deadline.ts';
import { list } from '../operations/list-queue.ts';
import { SCRIPTS } from '../script.ts';

/** G9.1, G9.2. Each claim looks at the pause inside of its script, so it holds in every process with its next claim. */
export function createPacing(context: Context): Pacing {
  return {
    async pause(queue, options) {
      const call = startCall('pause', options);
      const unlisted = await list(context, queue, call);
      if (unlisted !== null) throw unlisted;
      const { keys, claiming } = context.queues.of(queue);
      await context.connection.ask(SCRIPTS.pause, keys.pause, [1], call);
      // Claims of this process that were sent before may still bring jobs: let them end first.
      await within(Promise.allSettled(claiming), call.deadline);
    },
    async resume(queue, options) {
      const { keys } = context.queues.of(queue);
      await context.connection.ask(SCRIPTS.pause, keys.pause, [0], startCall('resume', options));
    },
    state: (queue, options) => readState(context, queue, options),
  };
}

async function readState(
  context: Context,
  queue: string,
  options: CallOptions,
): Promise<{ readonly paused: boolean }> {
  const { keys } = context.queues.of(queue);
  const call = startCall('pacing', options);
  return { paused: (await context.connection.command(call, 'HEXISTS', keys.state, 'paused')) === 1 };
}
