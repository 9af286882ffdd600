import { setTimeout as sleep } from 'node:timers/promises';
import { type Handler, handle } from '@surety/core';
import type { WorkerTools } from '../stage/worker-messages.ts';
import { childJob, failingJob, longJob, parentJob, type SkewArgs } from './jobs.ts';

/** Every kind of time that a job has: a delay, a lease that is renewed, the delay of a retry. */
export function handlers(tools: WorkerTools, { queue }: SkewArgs): readonly Handler[] {
  const child = childJob(queue);
  return [
    handle(parentJob(queue), async ({ delayMs }, context) => {
      tools.tell('wall', Date.now());
      tools.tell('enqueues', { parent: context.id, delayMs });
      await context.enqueue(child, { parent: context.id }, { delay: delayMs });
      tools.tell('enqueued', { parent: context.id, delayMs });
    }),
    handle(child, async ({ parent }, context) => {
      context.effect('ran');
      tools.tell('ran', { parent });
    }),
    handle(longJob(queue), async ({ workMs }, context) => {
      tools.tell('long-begun', context.id);
      await sleep(workMs, undefined, { signal: context.signal });
      context.effect('worked');
    }),
    handle(failingJob(queue), async (_, context) => {
      if (context.attempt === 1) throw new Error('fails once');
      context.effect('done');
    }),
  ];
}
