import { type Handler, handle } from '@surety/core';
import type { WorkerTools } from '../stage/worker-messages.ts';
import { anyJob, type ReleaseArgs } from './jobs.ts';

/** The good release, or the one in which everything fails at once. */
export function handlers(_: WorkerTools, { queue, isBroken }: ReleaseArgs): readonly Handler[] {
  return [
    handle(anyJob(queue), async (__, context) => {
      if (isBroken) throw new TypeError('cannot read properties of undefined');
      context.effect('done');
    }),
  ];
}
