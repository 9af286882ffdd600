import { createClient } from '@surety/core';
import type { Backend } from '@surety/core/contract';
import { callJob } from './jobs.ts';

/** Enqueues on and on, at a rate. */
export interface Producer extends AsyncDisposable {
  readonly accepted: readonly string[];
  /** Enqueues that failed; their jobs may be there all the same. */
  readonly failed: readonly string[];
  /** So many at once, besides. */
  burst(count: number): Promise<void>;
  /** Ends, once every enqueue under way has been answered. */
  stop(): Promise<void>;
}

const LOOK_EVERY_MS = 20;

/** Starts at once. A tick that comes late makes up for it, so that the rate holds on a busy machine. */
export function startProducer(backend: Backend, queue: string, perSecond: number): Producer {
  const client = createClient({ backend });
  const job = callJob(queue);
  const accepted: string[] = [];
  const failed: string[] = [];
  const underWay = new Set<Promise<void>>();
  const startedAt = performance.now();
  let paced = 0;
  let number = 0;
  const send = (): Promise<void> => {
    number += 1;
    const sent = client.enqueue(job, { number }).then(
      ({ id }) => void accepted.push(id),
      (error: unknown) => void failed.push(String(error)),
    );
    underWay.add(sent);
    return sent.finally(() => underWay.delete(sent));
  };
  const timer = setInterval(() => {
    const due = Math.floor(((performance.now() - startedAt) * perSecond) / 1000);
    for (; paced < due; paced += 1) void send();
  }, LOOK_EVERY_MS);
  const stop = async (): Promise<void> => {
    clearInterval(timer);
    await Promise.all(underWay);
  };
  return {
    accepted,
    failed,
    async burst(count) {
      await Promise.all(Array.from({ length: count }, send));
    },
    stop,
    async [Symbol.asyncDispose]() {
      await stop();
      await client.close();
    },
  };
}
