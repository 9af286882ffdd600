import { createWorker, type Worker } from '@surety/core';
import { openEffects } from './effects.ts';
import { handlersFor } from './handlers.ts';
import { connect } from './stores.ts';
import { CONCURRENCY, type FromWorker, type ToWorker, type WorkerTask } from './worker-messages.ts';

/**
 * Short, so that the jobs of a killed worker are back soon; the default of 30 s would only make the demo longer. Renewed all
 * the while, so that a job may run longer than its lease.
 */
const LEASE = '3s';
let worker: Worker | null = null;

process.on('message', (message: ToWorker) => {
  (message.kind === 'start' ? start(message.task) : stop()).catch(fail);
});
// The parent is gone, so that nobody would ever stop this process.
process.on('disconnect', () => process.exit(1));

async function start(task: WorkerTask): Promise<void> {
  const backend = await connect(task.store);
  const effects = openEffects(task.effectsFile);
  const surroundings = { worker: task.name, queue: task.queue, dependencyUrl: task.dependencyUrl, effects };
  worker = createWorker({
    backend,
    handlers: handlersFor(surroundings),
    concurrency: CONCURRENCY,
    lease: LEASE,
  });
  await worker.start();
  tell({ kind: 'started' });
}

async function stop(): Promise<void> {
  await worker?.stop({ drain: '5s' });
  tell({ kind: 'stopped' });
  process.disconnect();
}

function fail(error: unknown): void {
  tell({ kind: 'failed', reason: error instanceof Error ? error.message : String(error) });
  process.exitCode = 1;
}

function tell(message: FromWorker): void {
  process.send?.(message);
}
