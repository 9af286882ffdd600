import type { CallOptions, Pacing } from '@surety/core/contract';
import { startCall } from '../call.ts';
import { type Context, sessionOf } from '../context.ts';

export function createPacing(context: Context): Pacing {
  return Object.freeze({
    async pause(queue, options: CallOptions) {
      const session = sessionOf(context, 'pause');
      const call = startCall('pause', options);
      await session.topology.on(queue, call, (urls) =>
        session.pauses.pause(queue, urls, new Date(session.clock.likely()).toISOString(), call),
      );
      session.paused(queue);
    },
    async resume(queue, options) {
      const session = sessionOf(context, 'resume');
      const call = startCall('resume', options);
      await session.topology.on(queue, call, (urls) => session.pauses.resume(queue, urls, call));
    },
    async state(queue, options) {
      const session = sessionOf(context, 'state');
      const call = startCall('state', options);
      const urls = await session.topology.existing(queue, call);
      return { paused: urls !== null && (await session.pauses.ask(queue, urls, call)) !== null };
    },
  } satisfies Pacing);
}
