import { type Handler, handle } from '@surety/core';
import { openEffects } from '../stage/effects.ts';
import type { WorkerTools } from '../stage/worker-messages.ts';
import { drillJob, type KillWorkerArgs } from './jobs.ts';

/** One effect per run, after a point at which the worker can be held. It does not look at its signal: a late worker does its worst. */
export function handlers(tools: WorkerTools, { queue, effects: file }: KillWorkerArgs): readonly Handler[] {
  const effects = openEffects(file);
  return [
    handle(drillJob(queue), async (_, context) => {
      await tools.point('mid-job', context.id);
      context.effect('counted');
      effects.record(context.idempotencyKey, tools.worker);
    }),
  ];
}
