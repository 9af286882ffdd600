import {
  type AttemptEvent,
  createWorker,
  defineJob,
  handle,
  type JobContext,
  type Worker,
  type WorkerOptions,
} from '@surety/core';
import type { Backend } from '@surety/core/contract';

/** A worker as the suite runs it: small lease, quick retries, silent. */
export interface WorkerSetup {
  readonly queue: string;
  /** Handlers by job type. */
  readonly handlers: Readonly<Record<string, (context: JobContext) => unknown>>;
  readonly concurrency?: number;
  readonly leaseMs: number;
  readonly maxAttempts?: number;
  readonly timeoutMs?: number;
  readonly graceMs?: number;
  readonly onDead?: (event: AttemptEvent) => void;
}

/** First delay after a failure: short, so that cases need not wait for backoff. */
const RETRY_BASE_MS = 20;

/** Makes a worker of core on a backend; not started. */
export function makeWorker(backend: Backend, setup: WorkerSetup): Worker {
  const retry = { maxAttempts: setup.maxAttempts ?? 8, base: RETRY_BASE_MS, cap: 200 };
  const options: WorkerOptions = {
    backend,
    queues: [setup.queue],
    handlers: Object.entries(setup.handlers).map(([type, run]) =>
      handle(
        defineJob(type, { queue: setup.queue, retry, timeout: setup.timeoutMs ?? 60_000 }),
        (_, context) => run(context),
      ),
    ),
    concurrency: setup.concurrency ?? 5,
    lease: setup.leaseMs,
    grace: setup.graceMs ?? 1000,
    log: 'none',
    ...(setup.onDead === undefined ? {} : { onDead: setup.onDead }),
  };
  return createWorker(options);
}
