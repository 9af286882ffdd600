import { setTimeout as sleep } from 'node:timers/promises';
import type { Contestant } from '../contestants/contestant.ts';
import { payload } from '../contestants/payloads.ts';

export interface PickUpRequest {
  readonly location: string;
  readonly concurrency: number;
  readonly jobs: number;
  /** For each job to start once it is enqueued. */
  readonly limitMs: number;
}

export interface PickUpResult {
  /** From the call of enqueue to the start of the handler, in ms, of every job that started. */
  readonly waits: readonly number[];
  readonly starts: number;
}

/** Between two jobs, at least: several times what any contestant takes, so that each job finds an idle worker. */
const GAP_MS = 20;
/** On top, from job to job: no contestant shall be met at the same point of a timer of its own each time. */
const DRIFT_MS = [0, 11, 3, 17, 7, 13, 1];

/** Producer and worker in one process, so that one clock measures both ends. */
export async function pickUp(contestant: Contestant, request: PickUpRequest): Promise<PickUpResult> {
  const { location, concurrency, jobs, limitMs } = request;
  const begun = Array.from({ length: jobs }, () => Promise.withResolvers<number>());
  let starts = 0;
  const worker = await contestant.startWorker(location, {
    concurrency,
    handler: async ({ n }) => {
      starts += 1;
      begun[n]?.resolve(performance.now());
    },
  });
  const producer = await contestant.startProducer(location);
  const waits: number[] = [];
  for (const [n, { promise }] of begun.entries()) {
    const calledAt = performance.now();
    await producer.enqueue(payload(n));
    const startedAt = await Promise.race([promise, sleep(limitMs, null, { ref: false })]);
    if (startedAt === null) break;
    waits.push(startedAt - calledAt);
    await sleep(GAP_MS + (DRIFT_MS[n % DRIFT_MS.length] ?? 0));
  }
  await producer.stop();
  await worker.stop();
  return { waits, starts };
}
