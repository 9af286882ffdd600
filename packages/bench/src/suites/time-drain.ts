import { setTimeout as sleep } from 'node:timers/promises';
import type { Contestant } from '../contestants/contestant.ts';

export interface DrainRequest {
  readonly location: string;
  readonly jobs: number;
  readonly concurrency: number;
  /** How long the handlers may take in all, and how long the store may then still hold a job. */
  readonly limitMs: number;
  readonly completionLimitMs: number;
}

/** What one process saw of its drain. */
export interface DrainResult {
  /** From the start of the worker to the moment the store said that no job is left, or to a limit. */
  readonly elapsedMs: number;
  /** From the start of the worker to the end of the last handler; what remains of `elapsedMs` is completion. */
  readonly handledMs: number;
  /** CPU time of this process within `elapsedMs`, in microseconds. */
  readonly cpuUs: number;
  /** Starts of the handler, and how many different jobs they were for. */
  readonly starts: number;
  readonly distinct: number;
  readonly emptied: boolean;
}

/** Between two looks at the store once all handlers have run: short beside a run, long beside a look. */
const LOOK_EVERY_MS = 2;

/** Works off a filled store and measures. Runs in the process that is measured. */
export async function timeDrain(contestant: Contestant, request: DrainRequest): Promise<DrainResult> {
  const { location, jobs, concurrency, limitMs, completionLimitMs } = request;
  const seen = new Uint8Array(jobs);
  let starts = 0;
  let distinct = 0;
  const allSeen = Promise.withResolvers<void>();
  const observer = await contestant.observe(location);

  const cpuBefore = process.cpuUsage();
  const startedAt = performance.now();
  const worker = await contestant.startWorker(location, {
    concurrency,
    handler: async ({ n }) => {
      starts += 1;
      if (seen[n] !== 0) return;
      seen[n] = 1;
      distinct += 1;
      if (distinct === jobs) allSeen.resolve();
    },
  });
  await within(allSeen.promise, limitMs);
  const handledMs = performance.now() - startedAt;
  let emptied = await observer.isEmpty();
  while (!emptied && performance.now() - startedAt - handledMs < completionLimitMs) {
    await sleep(LOOK_EVERY_MS);
    emptied = await observer.isEmpty();
  }
  const elapsedMs = performance.now() - startedAt;
  const { user, system } = process.cpuUsage(cpuBefore);

  await worker.stop();
  await observer.close();
  return { elapsedMs, handledMs, cpuUs: user + system, starts, distinct, emptied };
}

async function within(promise: Promise<void>, limitMs: number): Promise<void> {
  const timer = Promise.withResolvers<void>();
  const timeout = setTimeout(timer.resolve, limitMs);
  await Promise.race([promise, timer.promise]);
  clearTimeout(timeout);
}
