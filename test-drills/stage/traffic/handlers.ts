import { setTimeout as sleep } from 'node:timers/promises';
import { type Handler, handle } from '@surety/core';
import { openEffects } from '../effects.ts';
import type { WorkerTools } from '../worker-messages.ts';
import { type TrafficArgs, trafficJob } from './jobs.ts';

/** Works, unless it is told to stop, and has one effect per run. */
export function handlers(tools: WorkerTools, { queue, effects: file }: TrafficArgs): readonly Handler[] {
  const effects = openEffects(file);
  return [
    handle(trafficJob(queue), async ({ workMs }, context) => {
      await sleep(workMs, undefined, { signal: context.signal });
      context.effect('counted');
      effects.record(context.id, tools.worker);
    }),
  ];
}
