import { setTimeout as pause } from 'node:timers/promises';
import type { DemoFiles } from './demo-files.ts';
import type { Effects } from './effects.ts';
import type { FlakyDependency } from './flaky-dependency.ts';
import type { Progress } from './progress.ts';
import type { Observer, QueueLook } from './read-store.ts';
import { startWorker, type WorkerProcess } from './start-worker.ts';
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
 * The longest standstill in good order is a lease of 3 s or the last delay of a retry. Past this time the work is broken
 * off, and the account shows what is missing. No limit of the whole: a slow machine is no fault.
 */
const STANDSTILL_MS = 30_000;
const LOOK_EVERY_MS = 100;

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

/** Looks at the store until something is so, and shows what it sees. */
class Watch {
  readonly workers = new Set<WorkerProcess>();
  readonly #place: Workplace;
  #seen = '';
  #seenAt = performance.now();

  constructor(place: Workplace) {
    this.#place = place;
  }

  async until(holds: (waiting: number) => boolean): Promise<void> {
    while (this.#leftMs() > 0) {
      const look = await this.#place.observer.look();
      const waiting = this.#waiting(look);
      this.#show(look, waiting);
      if (holds(waiting)) return;
      await this.orEnd(pause(LOOK_EVERY_MS));
    }
    this.#place.progress.step('stuck', 'nothing goes on any more; broken off');
  }

  /** Waits for the promise, but not through a standstill, and not when a worker has ended by itself: then it throws. */
  async orEnd(promise: Promise<unknown>): Promise<void> {
    const waiting = new AbortController();
    const limit = pause(this.#leftMs(), undefined, { signal: waiting.signal }).catch(() => undefined);
    await Promise.race([promise, limit, ...[...this.workers].map(({ failure }) => failure)]).finally(() =>
      waiting.abort(),
    );
  }

  #leftMs(): number {
    return Math.max(0, this.#seenAt + STANDSTILL_MS - performance.now());
  }

  /** Where the store does not tell what is leased, what has neither had an effect nor died is still under way. */
  #waiting({ waiting, leased, dead }: QueueLook): number {
    const { total, effects } = this.#place;
    return leased === null ? Math.max(waiting, total - effects.count() - dead) : waiting;
  }

  #show({ leased, scheduled, dead }: QueueLook, waiting: number): void {
    const { total, effects, progress } = this.#place;
    const figures = `leased ${leased ?? '?'}, to retry ${scheduled}, dead ${dead}, effects ${effects.count()}`;
    const text = `${String(total - waiting).padStart(3)} of ${total} ended: ${figures}`;
    progress.update(text);
    if (text === this.#seen) return;
    this.#seen = text;
    this.#seenAt = performance.now();
  }
}
