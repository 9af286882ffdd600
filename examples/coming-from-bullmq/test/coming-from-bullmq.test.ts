import { createClient } from '@surety/core';
import { redis } from '@surety/redis';
import { startRedis, startRedisCluster, startRedisPair } from '@surety/testbed';
import { Queue } from 'bullmq';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { cluster, everySecond, replicated, synced } from '../backends.ts';
import { mailWorker, signedUp, welcome } from '../mail.ts';
import { moveMail } from '../move.ts';
import { RIGHTS } from '../rights.ts';

const CALL = { timeoutMs: 20_000 };

let server: Awaited<ReturnType<typeof startRedis>>;
beforeAll(async () => {
  server = await startRedis();
});
afterAll(() => server.destroy());

describe('a queue of BullMQ', () => {
  test('is moved: every job that waits there runs here once, also when the move is broken off and begun again', async () => {
    const queue = new Queue('mail', { connection: { url: server.url } });
    await queue.addBulk(
      Array.from({ length: 120 }, (_, n) => ({ name: 'welcome', data: { email: `${n}@example.com` } })),
    );
    await queue.add('welcome', { email: 'urgent@example.com' }, { priority: 1 });
    await queue.add('welcome', { email: 'later@example.com' }, { delay: 3_600_000 });
    await using client = createClient({ backend: redis({ connection: server.url }) });

    // Died after storing a job and before removing it.
    const [first] = await queue.getJobs(['waiting'], 0, 0);
    const key = `bullmq mail ${first?.id}`;
    await client.enqueue(welcome, first?.data, { idempotencyKey: key, dedupeKey: key, dedupeWindow: '7d' });
    expect(await moveMail(queue, client)).toBe(122);
    expect(await queue.getJobCounts('waiting', 'delayed', 'prioritized')).toEqual({
      waiting: 0,
      delayed: 0,
      prioritized: 0,
    });
    await queue.close();

    const backend = redis({ connection: server.url });
    await backend.open({ ...CALL, notify: () => undefined });
    const { ready, scheduled } = await backend.counts('mail', CALL);
    expect([ready.value, scheduled.value]).toEqual([121, 1]);
    await backend.close({ graceMs: 1000 });

    const sent: string[] = [];
    await using worker = mailWorker({ connection: server.url }, async (email) => void sent.push(email));
    await worker.start();
    await expect.poll(() => sent.length, { timeout: 30_000 }).toBe(121);
    expect(new Set(sent).size).toBe(121);
    expect(sent).not.toContain('later@example.com');
  });

  test('is followed by one that takes a sign-up once', async () => {
    const options = { connection: server.url, prefix: 'sign-ups' };
    await using client = createClient({ backend: redis(options) });
    await signedUp(client, 'ada@example.com');
    await signedUp(client, 'ada@example.com');
    const backend = redis(options);
    await backend.open({ ...CALL, notify: () => undefined });
    expect((await backend.counts('mail', CALL)).scheduled.value).toBe(1);
    await backend.close({ graceMs: 1000 });
  });
});

describe('rights', () => {
  test('as listed do for producing, working and operating', async () => {
    const admin = new Redis(server.url);
    await admin.call('ACL', 'SETUSER', 'jobs', '>word', ...RIGHTS);
    const connection = server.url.replace('redis://', 'redis://jobs:word@');
    await using client = createClient({ backend: redis({ connection, prefix: 'surety:rights' }) });
    await client.enqueue(welcome, { email: 'ada@example.com' }, { dedupeKey: 'ada' });
    await client.enqueue(welcome, { email: 'bob@example.com' });
    const sent: string[] = [];
    const worker = mailWorker({ connection, prefix: 'surety:rights' }, async (email) => {
      sent.push(email);
      throw new Error('the mail server is away');
    });
    await worker.start();
    await expect.poll(() => sent.length, { timeout: 20_000 }).toBeGreaterThan(1);
    await worker.stop({ drain: '10s' });
    const backend = redis({ connection, prefix: 'surety:rights' });
    const notices: unknown[] = [];
    await backend.open({ ...CALL, notify: (notice) => void notices.push(notice) });
    expect(notices).toEqual([]);
    const [queue = ''] = await backend.queues(CALL);
    await backend.pacing.pause(queue, CALL);
    await backend.pacing.resume(queue, CALL);
    expect((await backend.counts(queue, CALL)).scheduled.value).toBe(2);
    expect(
      (await backend.deadLetters.list({ queue, limit: 10, cursor: null, type: null }, CALL)).entries,
    ).toEqual([]);
    expect(await backend.deadLetters.redrive(queue, { type: null, limit: 10 }, CALL)).toEqual([]);
    expect(await backend.deadLetters.discard(queue, { type: null, limit: 10 }, CALL)).toEqual([]);
    await backend.dedupe?.forget(queue, 'ada', CALL);
    await backend.close({ graceMs: 1000 });
    admin.disconnect();
  });
});

describe('backends', () => {
  test('state what the server is set for, and refuse one that is set for less', async () => {
    const plain = everySecond(server.url);
    await plain.open({ ...CALL, notify: () => undefined });
    expect(plain.capabilities.durability).toBe('process-crash');
    await plain.close({ graceMs: 1000 });
    await expect(synced(server.url).open({ ...CALL, notify: () => undefined })).rejects.toMatchObject({
      code: 'STORE_UNSUITABLE',
    });
    await using always = await startRedis({ settings: { appendfsync: 'always' } });
    const backend = synced(always.url);
    await backend.open({ ...CALL, notify: () => undefined });
    expect(backend.capabilities.durability).toBe('fsync');
    await backend.close({ graceMs: 1000 });
  });

  test('can wait for a replica, and say so when it is away', async () => {
    await using pair = await startRedisPair();
    await using client = createClient({ backend: replicated(pair.primary.url) });
    const job = await client.enqueue(welcome, { email: 'ada@example.com' });
    expect(job.status).toBe('accepted');
    await pair.replica.kill();
    await expect(client.enqueue(welcome, { email: 'bob@example.com' })).rejects.toMatchObject({
      code: 'DURABILITY_NOT_REACHED',
    });
  });

  test('find a cluster through one of its nodes', async () => {
    await using nodes = await startRedisCluster();
    await using client = createClient({ backend: cluster(nodes.urls.slice(0, 1)) });
    expect((await client.enqueue(welcome, { email: 'ada@example.com' })).status).toBe('accepted');
  });
});
