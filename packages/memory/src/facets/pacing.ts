import type { Pacing } from '@surety/core/contract';
import type { Context } from '../store/context.ts';
import { isPaused, setPaused } from '../store/pause.ts';

/** Pause and resume of a queue, for every backend of the store. */
export function pacing(context: Context): Pacing {
  const { connection, store } = context;
  const set = (name: string, paused: boolean): void => {
    const queue = store.queue(name);
    setPaused(context, queue, paused);
    store.touched(queue);
  };

  return {
    pause: (name, options) => connection.call('pause', options.timeoutMs, () => set(name, true)),
    resume: (name, options) => connection.call('resume', options.timeoutMs, () => set(name, false)),
    state: (name, options) =>
      connection.call('state', options.timeoutMs, () => ({ paused: isPaused(context, store.queue(name)) })),
  };
}
