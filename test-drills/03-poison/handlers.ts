import { setTimeout as sleep } from 'node:timers/promises';
import { type Handler, handle } from '@surety/core';
import { openEffects } from '../stage/effects.ts';
import type { WorkerTools } from '../stage/worker-messages.ts';
import { neighbourJob, type Poison, type PoisonArgs, poisonJob } from './jobs.ts';

/** Long enough that several run when a worker dies. */
const NEIGHBOUR_MS = 200;
const HOARD_ITEMS = 100_000;

const HARM: Readonly<Record<Poison, () => unknown>> = {
  throws: () => {
    throw new Error('this payload cannot be handled');
  },
  // Looks neither at the time nor at its signal.
  hangs: () => new Promise(() => undefined),
  hoards: () => {
    for (const hoard: unknown[] = []; ; )
      hoard.push(Array.from({ length: HOARD_ITEMS }, (_, index) => ({ index })));
  },
  kills: () => process.kill(process.pid, 'SIGKILL'),
};

/** A handler that some payloads harm, and one beside it. */
export function handlers(tools: WorkerTools, args: PoisonArgs): readonly Handler[] {
  const effects = openEffects(args.effects);
  return [
    handle(poisonJob(args.queue), async ({ poison }, { id, idempotencyKey, attempt, redrives }) => {
      tools.tell('poison-started', { id, poison, attempt, redrives });
      if (!args.isFixed) await HARM[poison]();
      effects.record(idempotencyKey, tools.worker);
    }),
    handle(neighbourJob(args.queue), async (_, { idempotencyKey }) => {
      await sleep(NEIGHBOUR_MS);
      effects.record(idempotencyKey, tools.worker);
    }),
  ];
}
