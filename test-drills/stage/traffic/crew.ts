import { besides } from '../besides.ts';
import type { History } from '../history.ts';
import type { Stage, WorkerOrder } from '../stage.ts';
import type { WorkerProcess } from '../worker.ts';
import type { WorkerSettings } from '../worker-messages.ts';
import type { TrafficArgs } from './jobs.ts';

/** Beside the order, what is the same for all workers of the traffic. */
export interface CrewOrder extends Omit<WorkerOrder, 'handlers' | 'args' | 'settings'> {
  readonly args: TrafficArgs;
  readonly settings?: WorkerSettings;
}

/** A worker of the traffic, with its part of the history in a file of its own. */
export function startHand(
  stage: Stage,
  history: History,
  { args, settings, ...order }: CrewOrder,
): Promise<WorkerProcess> {
  return stage.worker({
    ...order,
    handlers: besides(import.meta.url, 'handlers'),
    args,
    settings: {
      queues: [args.queue],
      concurrency: 8,
      lease: stage.leaseMs,
      ...settings,
      trace: history.file(),
    },
  });
}

/** How many attempts were completed after a moment of `monotonicMs()`. */
export function completedSince(crew: readonly WorkerProcess[], since: number): number {
  return crew.reduce((sum, { events }) => {
    const done = events.filter(
      ({ name, atMs, data }) =>
        name === 'attempt' && atMs > since && (data as { readonly outcome: string }).outcome === 'completed',
    );
    return sum + done.length;
  }, 0);
}
