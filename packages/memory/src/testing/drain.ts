// The kit drives the real worker; an application that tests with it has core anyway. The backend itself never does.
// oxlint-disable-next-line no-restricted-imports
import { type AttemptEvent, createWorker, type Handler } from '@surety/core';
import type { Backend } from '@surety/core/contract';
import type { QueueState } from '../store/queue-state.ts';
import type { Store } from '../store/store.ts';

/** Options of a drain. */
export interface DrainOptions {
  /** Handlers at the same time; 1 when left out, so that jobs run in order. */
  readonly concurrency?: number;
  /** Real ms after which a drain that does not come to rest fails; 10 s when left out. */
  readonly timeoutMs?: number;
}

/** What a drain did. */
export interface DrainReport {
  /** One entry per attempt, in the order of their ends. */
  readonly attempts: readonly AttemptEvent[];
  readonly completed: number;
  /** Failed, and due again later: advance the clock and drain again. */
  readonly retried: number;
  readonly dead: number;
}

/** How often the store is looked at while handlers run. */
const LOOK_EVERY_MS = 2;
const DRAIN_LIMIT_MS = 10_000;

/** Runs a worker on one queue after the other until nothing is ready, jobs that the handlers enqueued included. */
export async function drain(
  backend: Backend,
  store: Store,
  handlers: readonly Handler[],
  options: DrainOptions,
): Promise<DrainReport> {
  const attempts: AttemptEvent[] = [];
  const deadline = performance.now() + (options.timeoutMs ?? DRAIN_LIMIT_MS);
  const { concurrency = 1 } = options;
  for (let queue = readyQueue(store); queue !== undefined; queue = readyQueue(store)) {
    const worker = createWorker({ backend, handlers, queues: [queue.name], concurrency, log: 'none' });
    worker.on('attempt', (event) => attempts.push(event));
    await worker.start();
    try {
      await untilRest(store, queue.name, deadline);
    } finally {
      // At rest nothing runs; after a failure what runs is handed back without waiting for it.
      await worker.stop({ drain: 0, grace: 0 });
    }
    assertTypesKnown(attempts);
  }
  const count = (outcome: AttemptEvent['outcome']): number =>
    attempts.filter((attempt) => attempt.outcome === outcome).length;
  return { attempts, completed: count('completed'), retried: count('retried'), dead: count('dead') };
}

function readyQueue(store: Store): QueueState | undefined {
  return store.queues().find((queue) => queue.ready > 0 && !queue.pause.paused);
}

async function untilRest(store: Store, name: string, deadline: number): Promise<void> {
  for (;;) {
    const { ready, leased, pause } = store.queue(name);
    if (leased === 0 && (ready === 0 || pause.paused)) return;
    if (performance.now() > deadline) {
      throw new Error(
        `The drain did not come to rest in time: queue '${name}' has ${ready} jobs ready and ${leased} running.`,
      );
    }
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
  }
}

/** In production an unknown type waits for a worker that knows it; in a test it is a handler that was forgotten. */
function assertTypesKnown(attempts: readonly AttemptEvent[]): void {
  const unknown = new Set(attempts.filter((each) => each.code === 'UNKNOWN_TYPE').map((each) => each.type));
  if (unknown.size === 0) return;
  throw new Error(`The kit has no handler for ${[...unknown].map((type) => `'${type}'`).join(', ')}.`);
}
