import { type AbortReason, createWorker, defineJob, handle } from '@surety/core';
import { type RabbitmqServer, startRabbitmq } from '@surety/testbed';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rabbitmq } from '../src/index.ts';
import { accept, eventually, freshQueue, newJob, opened } from './backends.ts';

let server: RabbitmqServer;
beforeAll(async () => {
  server = await startRabbitmq();
});
afterAll(() => server.destroy());

describe("a worker's handler", () => {
  it('hears at once that its lease ended with its connection, and the job is run again (B032)', async () => {
    const queue = freshQueue();
    const job = defineJob('task', { queue });
    const starts: number[] = [];
    let endedBy: { readonly kind: string; readonly at: number } | null = null;
    const worker = createWorker({
      backend: rabbitmq({ url: server.url }),
      queues: [queue],
      // A renewal in turn would come after 100 s.
      lease: 300_000,
      signals: false,
      log: 'none',
      handlers: [
        handle(job, (_input, { attempt, signal }) => {
          starts.push(attempt);
          if (starts.length > 1) return Promise.resolve();
          return new Promise<void>((resolve) => {
            signal.addEventListener('abort', () => {
              endedBy = { kind: (signal.reason as AbortReason).kind, at: performance.now() };
              resolve();
            });
          });
        }),
      ],
    });
    await worker.start();
    try {
      await using producer = await opened({ url: server.url });
      await accept(producer, [newJob(queue)]);
      await eventually('it runs', async () => starts.length === 1);
      await server.closeConnections();
      await eventually('it hears', async () => endedBy !== null, 20_000);
      expect(endedBy).toMatchObject({ kind: 'lease-lost' });
      await eventually('it runs again', async () => starts.length === 2);
      expect(starts).toEqual([1, 2]);
    } finally {
      await worker.stop({ drain: 0, grace: 0 });
    }
  });
});
