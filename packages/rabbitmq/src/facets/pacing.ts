import type { CallOptions, Pacing } from '@surety/core/contract';
import { startCall } from '../call.ts';
import { untold } from '../claims/pauses.ts';
import { type Context, sessionOf } from '../context.ts';
import { fromNative } from '../native-errors.ts';
import { newNonce } from '../wire/new-nonce.ts';

export function createPacing(context: Context): Pacing {
  async function change(queue: string, paused: boolean, options: CallOptions): Promise<void> {
    const operation = paused ? 'pause' : 'resume';
    const session = sessionOf(context, operation);
    const call = startCall(operation, options);
    session.meet(queue);
    await session.topology.control(call);
    await session.pauses.mark(queue, paused, call);
    if (paused) await (await session.lanes.opening(queue))?.pause();
    const told = await session.publisher.tell(session.names.control, Buffer.from(queue), newNonce(), call);
    if (told.status !== 'stored') throw untold(operation, told.error);
  }
  return Object.freeze({
    pause: (queue, options) => change(queue, true, options),
    resume: (queue, options) => change(queue, false, options),
    async state(queue, options) {
      const session = sessionOf(context, 'state');
      try {
        return { paused: await session.pauses.ask(queue, startCall('state', options)) };
      } catch (native) {
        throw fromNative(native, 'state');
      }
    },
  } satisfies Pacing);
}
