import type { CallOptions } from '@surety/core/contract';
import type { Context } from '../store/context.ts';

/** Queues that hold a job in any state or are paused, sorted. */
export async function queues(context: Context, options: CallOptions): Promise<readonly string[]> {
  return context.connection.call('queues', options.timeoutMs, () =>
    context.store
      .queues()
      .filter((queue) => !queue.empty || queue.pause.paused)
      .map((queue) => queue.name)
      .sort(),
  );
}
