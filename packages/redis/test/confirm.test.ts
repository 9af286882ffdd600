import type { Backend } from '@surety/core/contract';
import { type RedisServerOptions, startRedis, startRedisPair } from '@surety/testbed';
import { Redis } from 'ioredis';
import { describe, expect, test } from 'vitest';
import { type ConfirmOptions, redis } from '../src/index.ts';
import { CALL, claim, eventually, freshQueue, newJob, openBackend, put } from './store.ts';

/** WAITAOF is known from 7.2 on. */
const LATER: RedisServerOptions = { from: 'redis8' };

/** Stored, and not known to be as durable as asked: that is what each job of a new batch is told. */
async function expectNotReached(backend: Backend, queue: string): Promise<void> {
  const jobs = [newJob(queue), newJob(queue, { delayMs: 60_000 })];
  const outcomes = await backend.enqueue(jobs, CALL);
  for (const outcome of outcomes) {
    if (outcome.status !== 'unknown') throw new Error(`not unknown: ${JSON.stringify(outcome)}`);
    expect([outcome.error.code, outcome.error.retryable]).toEqual(['DURABILITY_NOT_REACHED', 'unknown']);
  }
  const { ready, scheduled } = await backend.counts(queue, CALL);
  expect([ready.value, scheduled.value]).toEqual([1, 1]);
}

describe('an enqueue that asks for replicas', () => {
  test('is accepted when they have it, and unknown when they do not in time; the job is stored', async () => {
    await using pair = await startRedisPair();
    const confirm = { replicas: 1, withinMs: 500 };
    const backend = await openBackend({ connection: pair.primary.url, confirm });
    expect(backend.capabilities.durability).toEqual({ replicated: 1 });
    const queue = freshQueue();
    await put(backend, queue, 3);
    await pair.replica.pause();
    const jobs = [newJob(queue), newJob(queue)];
    const outcomes = await backend.enqueue(jobs, CALL);
    expect(outcomes.map((outcome) => outcome.status === 'unknown' && outcome.error.code)).toEqual([
      'DURABILITY_NOT_REACHED',
      'DURABILITY_NOT_REACHED',
    ]);
    // It is there already, on the primary alone still: also not for another producer, which wrote nothing before.
    const other = await openBackend({ connection: pair.primary.url, confirm });
    for (const producer of [backend, other]) {
      const repeated = await producer.enqueue(jobs, CALL);
      expect(repeated.map(({ status }) => status)).toEqual(['unknown', 'unknown']);
    }
    // Workers do not stand still behind it.
    expect(await claim(backend, queue)).toHaveLength(5);
    await pair.replica.resume();
    // Repeated by its id it is known, and this time the replica has it.
    await eventually(async () => {
      const again = await backend.enqueue(jobs, CALL);
      return again.every(({ status }) => status === 'duplicate');
    });
    await Promise.all([backend, other].map((each) => each.close({ graceMs: 1000 })));
  });
});

describe('an enqueue that asks for the synced log', () => {
  test('is accepted once the log is synced, which the server does each second', async () => {
    await using server = await startRedis(LATER);
    const backend = await openBackend({ connection: server.url, confirm: { fsync: true } });
    expect(backend.capabilities.durability).toBe('fsync');
    const queue = freshQueue();
    const jobs = await put(backend, queue, 20);
    // What was in the hands of the system only would be here as well: that a disk is waited for shows in the tests below.
    await server.kill();
    await server.start();
    const after = await openBackend({ connection: server.url });
    expect(await claim(after, queue, { max: 50 })).toHaveLength(jobs.length);
    await Promise.all([backend, after].map((each) => each.close({ graceMs: 1000 })));
  });

  test.each<readonly [string, ConfirmOptions]>([
    ['in memory', { replicas: 1, withinMs: 200 }],
    ['in their log', { fsync: true, replicas: 1, withinMs: 1500 }],
  ])('and of replicas that there are not, %s, is unknown', async (_, confirm) => {
    await using server = await startRedis(LATER);
    const backend = await openBackend({ connection: server.url, confirm });
    await expectNotReached(backend, freshQueue());
    await backend.close({ graceMs: 1000 });
  });

  test('is unknown once the log of the server was turned off, until it is on again', async () => {
    await using server = await startRedis(LATER);
    const backend = await openBackend({
      connection: server.url,
      confirm: { fsync: true, withinMs: 1500 },
    });
    const admin = new Redis(server.url);
    const queue = freshQueue();
    await put(backend, queue, 1, { delayMs: 60_000 });
    await admin.config('SET', 'appendonly', 'no');
    await expectNotReached(backend, freshQueue());
    await admin.config('SET', 'appendonly', 'yes');
    await eventually(async () => (await backend.enqueue([newJob(queue)], CALL))[0]?.status === 'accepted');
    admin.disconnect();
    await backend.close({ graceMs: 1000 });
  });

  test('is refused at open where there is no log', async () => {
    await using server = await startRedis({ ...LATER, settings: { appendonly: 'no' } });
    const backend = redis({ connection: server.url, confirm: { fsync: true } });
    await expect(backend.open({ ...CALL, notify: () => {} })).rejects.toMatchObject({
      code: 'STORE_UNSUITABLE',
      message: expect.stringContaining('keeps none'),
    });
    await backend.close({ graceMs: 0 });
  });
});
