import { setTimeout as sleep } from 'node:timers/promises';
import type { Contestant } from '../contestants/contestant.ts';
import { payload } from '../contestants/payloads.ts';

export interface DueTimeRequest {
  readonly location: string;
  readonly concurrency: number;
  readonly jobs: number;
  /** For the last job to start once it is due. */
  readonly limitMs: number;
}

export interface DueTimeResult {
  /** From the time for which a job was asked for, counted from the call of enqueue, to the start of its handler, in ms. */
  readonly waits: readonly number[];
  readonly starts: number;
}

/** Due times are spread, so that each job finds an idle worker, and none falls together with a timer of a contestant each time. */
const FIRST_DELAY_MS = 150;
const STEP_MS = 7;
const STEPS = 20;
const GAP_MS = 25;

/** Producer and worker in one process, so that one clock measures both ends. */
export async function dueTime(contestant: Contestant, request: DueTimeRequest): Promise<DueTimeResult> {
  const { location, concurrency, jobs, limitMs } = request;
  const dueAt: number[] = [];
  const waits: number[] = [];
  const all = Promise.withResolvers<void>();
  let starts = 0;
  const worker = await contestant.startWorker(location, {
    concurrency,
    handler: async ({ n }) => {
      starts += 1;
      waits.push(performance.now() - (dueAt[n] ?? Number.NaN));
      if (waits.length === jobs) all.resolve();
    },
  });
  const producer = await contestant.startProducer(location);
  for (let n = 0; n < jobs; n += 1) {
    const delayMs = FIRST_DELAY_MS + (n % STEPS) * STEP_MS;
    dueAt.push(performance.now() + delayMs);
    await producer.enqueueMany([payload(n)], delayMs);
    await sleep(GAP_MS);
  }
  await Promise.race([all.promise, sleep(limitMs, null, { ref: false })]);
  await producer.stop();
  await worker.stop();
  return { waits, starts };
}
