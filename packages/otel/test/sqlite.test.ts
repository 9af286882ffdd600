import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient, createWorker, defineJob, handle } from '@surety/core';
import { observeQueues, observeWorker } from '@surety/otel';
import { sqlite } from '@surety/sqlite';
import { expect, test } from 'vitest';
import { eventually, measured } from './support/measured.ts';

test('a real store is measured from outside the worker, and let go at the end', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'surety-otel-'));
  try {
    await measureOn(join(folder, 'jobs.db'));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

async function measureOn(file: string): Promise<void> {
  const job = defineJob<string>('receipt.send', { queue: 'mail', retry: { maxAttempts: 1 } });
  // As from another process: its own connection to the file.
  const backend = sqlite(file);
  await using metrics = measured();
  await using watched = observeQueues(sqlite(file), { meter: metrics.meter, intervalMs: 0 });
  await using client = createClient({ backend });
  const gate = Promise.withResolvers<void>();
  await using worker = createWorker({
    backend,
    log: 'none',
    concurrency: 2,
    claimAhead: false,
    handlers: [
      handle(job, async (input) => {
        if (input === 'bad') throw new RangeError('no');
        await gate.promise;
      }),
    ],
  });
  await using _observed = observeWorker(worker, { meter: metrics.meter });
  await worker.start();
  await client.enqueue(job, 'bad');
  for (let index = 0; index < 5; index++) await client.enqueue(job, 'good');
  await client.enqueue(job, 'good', { delay: '1h' });

  const value = async (metric: string, attributes = {}): Promise<unknown> =>
    (await metrics.collect()).values(metric, {
      'messaging.destination.name': 'mail',
      ...attributes,
    })[0];
  const depth = (state: string): Promise<unknown> =>
    value('surety.queue.depth', { 'surety.job.state': state });
  await eventually(async () => (await value('surety.queue.dead_letters')) === 1, 'the bad job is dead');
  await eventually(async () => (await value('surety.queue.leased')) === 2, 'two jobs run');
  expect(await depth('ready')).toBe(3);
  expect(await depth('scheduled')).toBe(1);
  const age = Number(await value('surety.queue.oldest_ready_age'));
  expect(age).toBeGreaterThan(0);
  await eventually(
    async () => Number(await value('surety.queue.oldest_ready_age')) > age + 0.05,
    'the oldest job gets older',
  );

  gate.resolve();
  await eventually(async () => (await depth('ready')) === 0, 'the queue has drained');
  expect(await value('surety.queue.oldest_ready_age')).toBe(0);
  await eventually(
    async () => (await value('surety.job.attempts', { 'surety.job.outcome': 'completed' })) === 5,
    'five jobs have completed',
  );
  expect(await value('surety.job.deaths', { 'error.type': 'RangeError' })).toBe(1);
  expect((await metrics.collect()).values('surety.queue.read.failures')).toEqual([]);
  await watched.stop();
}
