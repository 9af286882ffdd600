import { setTimeout as sleep } from 'node:timers/promises';
import type { AttemptEvent } from '@surety/core';
import type { Stage, WorkerOrder } from './stage.ts';
import type { WorkerProcess } from './worker.ts';

/** Workers under a process manager: one that ends is started again. */
export interface Fleet {
  /** All that there ever were. */
  readonly workers: readonly WorkerProcess[];
  /** Ends of workers that nobody had ordered; a successor may still be starting. */
  readonly deaths: number;
  readonly attempts: readonly AttemptEvent[];
  told<Data>(name: string): readonly Data[];
  /** Stops all in order. Throws if one could not be started. */
  stop(): Promise<void>;
}

/** As a process manager waits, so that a worker that cannot start does not start all the time. */
const RESTART_MS = 100;

/** Starts `count` workers and keeps so many running. */
export async function startFleet(stage: Stage, order: WorkerOrder, count: number): Promise<Fleet> {
  const workers: WorkerProcess[] = [];
  let isOver = false;
  let deaths = 0;
  const keep = async (first: WorkerProcess): Promise<void> => {
    for (let worker = first; ; ) {
      await worker.exited;
      if (!isOver) deaths += 1;
      await sleep(RESTART_MS);
      if (isOver || stage.signal.aborted) return;
      worker = await stage.worker(order);
      workers.push(worker);
      if (isOver) await worker.stop();
    }
  };
  const firsts = await Promise.all(Array.from({ length: count }, () => stage.worker(order)));
  workers.push(...firsts);
  const keeping = firsts.map(keep);
  // Told by `stop`; until then nobody waits for it.
  for (const kept of keeping) kept.catch(() => undefined);
  return {
    workers,
    get deaths() {
      return deaths;
    },
    get attempts() {
      return workers.flatMap((worker) => worker.attempts);
    },
    told: <Data>(name: string) => workers.flatMap((worker) => worker.told<Data>(name)),
    async stop() {
      isOver = true;
      await Promise.all(workers.map((worker) => worker.stop()));
      await Promise.all(keeping);
    },
  };
}
