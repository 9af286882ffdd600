import { existsSync } from 'node:fs';
import { type Handler, handle } from '@surety/core';
import type { WorkerTools } from '../stage/worker-messages.ts';
import { type DependentArgs, dependentJob } from './jobs.ts';

/** Asks the dependency, which fails or answers at once. */
export function handlers(_: WorkerTools, { queue, outage }: DependentArgs): readonly Handler[] {
  return [
    handle(dependentJob(queue), async (__, context) => {
      context.effect('asked');
      if (existsSync(outage)) throw new Error('the dependency is down');
    }),
  ];
}
