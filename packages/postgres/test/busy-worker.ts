import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  createClient,
  createWorker,
  defineJob,
  handle,
  isSuretyError,
  type WorkerHealth,
} from '@surety/core';
import { type PostgresOptions, postgres } from '../src/index.ts';
import { eventually, freshQueue } from './store.ts';

/** A producer and a worker that stay busy while things happen to the server under them. */
export interface BusyWorker {
  readonly queue: string;
  /** Attempt numbers of the starts of every job that was accepted, or may have been. */
  readonly starts: ReadonlyMap<string, readonly number[]>;
  /** Ids of which an enqueue ended as unknown. */
  readonly uncertain: ReadonlySet<string>;
  /** Codes of the errors that enqueues ended with; each was repeated with its id until it was accepted. */
  readonly refusals: ReadonlySet<string>;
  health(): WorkerHealth;
  /** Resolves when so many jobs more have ended. */
  goesOn(jobs?: number): Promise<void>;
  /** Ends producing, waits until the last job has ended, and stops. The ids that were accepted. */
  finish(): Promise<string[]>;
}

const PRODUCERS = 3;

/** Far longer than any fault here, so that no job may start twice. */
const LONG_LEASE_MS = 120_000;

/** Time limits of calls are short, so that what hangs is found out. */
export async function startBusyWorker(
  options: PostgresOptions,
  leaseMs: number = LONG_LEASE_MS,
): Promise<BusyWorker> {
  const queue = freshQueue();
  const definition = defineJob<{ n: number }>('busy.job', { queue });
  const client = createClient({ backend: postgres(options), timeout: '2s' });
  const starts = new Map<string, number[]>();
  const uncertain = new Set<string>();
  const refusals = new Set<string>();
  const accepted: string[] = [];
  let ended = 0;
  let producing = true;
  const worker = createWorker({
    backend: postgres(options),
    concurrency: 10,
    lease: leaseMs,
    timeout: '2s',
    log: 'none',
    handlers: [
      handle(definition, async (_, { id, attempt }) => {
        starts.set(id, [...(starts.get(id) ?? []), attempt]);
        await sleep(Math.random() * 20);
        ended += 1;
      }),
    ],
  });
  await worker.start();

  async function enqueueUntilAccepted(id: string): Promise<void> {
    for (;;) {
      try {
        await client.enqueue(definition, { n: 1 }, { id });
        accepted.push(id);
        return;
      } catch (error) {
        if (!isSuretyError(error)) throw error;
        refusals.add(error.code);
        if (error.code === 'OUTCOME_UNKNOWN') uncertain.add(id);
        await sleep(50);
      }
    }
  }

  const producers = Array.from({ length: PRODUCERS }, async () => {
    while (producing) {
      await enqueueUntilAccepted(randomUUID());
      await sleep(2);
    }
  });

  return {
    queue,
    starts,
    uncertain,
    refusals,
    health: () => worker.health(),
    async goesOn(jobs = 30) {
      const wanted = ended + jobs;
      await eventually(async () => ended >= wanted);
    },
    async finish() {
      producing = false;
      await Promise.all(producers);
      await eventually(async () => accepted.every((id) => starts.has(id)));
      await worker.stop();
      await client.close();
      return accepted;
    },
  };
}
