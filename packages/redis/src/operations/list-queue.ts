import { isSuretyError, type SuretyError } from '@surety/core/errors';
import type { Context } from '../context.ts';
import type { Call } from '../deadline.ts';
import { registryKey } from '../keys.ts';

/**
 * Puts a queue into the list of queues, once a process, before anything is stored in it: on a cluster the list is on another
 * node than the queue, so one script cannot do both. The answer is why it could not be done, or null.
 */
export async function list(context: Context, queue: string, call: Call): Promise<SuretyError | null> {
  const state = context.queues.of(queue);
  if (state.listed) return null;
  try {
    await context.connection.command(call, 'SADD', registryKey(context.options.prefix), queue);
    state.listed = true;
    return null;
  } catch (error) {
    if (isSuretyError(error)) return error;
    throw error;
  }
}
