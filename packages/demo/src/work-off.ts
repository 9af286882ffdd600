import type { DemoFiles } from './demo-files.ts';
import type { Effects } from './effects.ts';
import type { FlakyDependency } from './flaky-dependency.ts';
import type { Progress } from './progress.ts';
import type { Observer } from './read-store.ts';
import { startWorker, type WorkerProcess } from './start-worker.ts';
import { Watch } from './watch.ts';
import type { WorkerTask } from './worker-messages.ts';

/** What the work is done with. */
export interface Workplace {
  readonly task: Omit<WorkerTask, 'name'>;
  readonly files: DemoFiles;
  readonly dependency: FlakyDependency;
  readonly effects: Effects;
  readonly observer: Observer;
  readonly progress: Progress;
  /** Jobs in the queue at the start. */
  readonly total: number;
}

/**
 * Two workers work; half way the first is killed and a third takes its place; the end is an empty queue. Answers the keys
 * of the jobs that the killed worker was running.
 */
export async function workOff(place: Workplace): Promise<readonly string[]> {
  const watch = new Watch(place);
  const started: WorkerProcess[] = [];
  const start = async (name: string): Promise<WorkerProcess> => {
    const worker = await startWorker({ ...place.task, name }, place.files.logOf(name));
    started.push(worker);
    watch.workers.add(worker);
    return worker;
  };
  try {
    return await workWith(start, place, watch);
  } finally {
    await Promise.all(started.map((worker) => worker[Symbol.asyncDispose]()));
  }
}

async function workWith(
  start: (name: string) => Promise<WorkerProcess>,
  place: Workplace,
  watch: Watch,
): Promise<readonly string[]> {
  const [doomed, survivor] = [await start('worker-1'), await start('worker-2')];
  place.progress.step(
    'work',
    '2 worker processes; each job calls an HTTP service that answers 503 to one in four',
  );
  await watch.until((waiting) => waiting <= place.total / 2);
  const interrupted = await killAtWork(doomed, place, watch);
  const successor = await start('worker-3');
  await watch.until((waiting) => waiting === 0);
  await Promise.all([survivor.stop(), successor.stop()]);
  return interrupted;
}

/** Kills it in the worst moment: some jobs are under way, and one has had its effect but has not been completed. */
async function killAtWork(doomed: WorkerProcess, place: Workplace, watch: Watch): Promise<readonly string[]> {
  await watch.orEnd(place.dependency.holdNextConfirmation(doomed.name));
  watch.workers.delete(doomed);
  const running = [...new Set(place.dependency.running(doomed.name))];
  await doomed.kill();
  place.progress.step(
    'kill -9',
    `${doomed.name} dies with ${running.length} jobs running; worker-3 takes its place`,
  );
  return running;
}
