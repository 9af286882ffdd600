import type { Notice } from '@surety/core/contract';
import { startRedis, startRedisCluster, startRedisPair, startTcpProxy } from '@surety/testbed';
import { Redis } from 'ioredis';
import { describe, expect, test } from 'vitest';
import {
  CALL,
  claim,
  completion,
  ERROR,
  eventually,
  freshQueue,
  newJob,
  openBackend,
  put,
  statuses,
  useStore,
} from './store.ts';

describe('a server that forgets its scripts', () => {
  const store = useStore();

  test('is sent them again, also when many calls are under way', async () => {
    const backend = await store.open();
    const queue = freshQueue();
    await put(backend, queue);
    await store.client.script('FLUSH');
    const enqueuing = Array.from({ length: 20 }, () => put(backend, queue));
    const claimed = await claim(backend, queue, { max: 1 });
    await Promise.all(enqueuing);
    await store.client.script('FLUSH');
    const renewed = await backend.renew(claimed, 30_000, CALL);
    expect(renewed.map(({ status }) => status)).toEqual(['renewed']);
    await store.client.script('FLUSH');
    expect(await statuses(backend, claimed.map(completion))).toEqual(['settled']);
    expect((await backend.counts(queue, CALL)).ready.value).toBe(20);
  });

  test('is told of the queue again, whose name may be gone with the scripts', async () => {
    const backend = await store.open();
    const queue = freshQueue();
    await put(backend, queue);
    await store.client.srem(`${store.prefix}:queues`, queue);
    await store.client.script('FLUSH');
    await put(backend, queue);
    expect(await backend.queues(CALL)).toContain(queue);
  });
});

describe('a server that is out of memory', () => {
  test('refuses what is new, whole and by its code, and lets workers empty it', async () => {
    await using server = await startRedis();
    const backend = await openBackend({ connection: server.url });
    const admin = new Redis(server.url);
    const queue = freshQueue();
    const jobs = await put(backend, queue, 6);
    await admin.config('SET', 'maxmemory', '1mb');
    for (const overrides of [{}, { delayMs: 1000 }]) {
      const refused = await backend.enqueue([newJob(queue, overrides), newJob(queue, overrides)], CALL);
      expect(refused.map((each) => each.status === 'rejected' && each.error.code)).toEqual([
        'STORE_FULL',
        'STORE_FULL',
      ]);
    }
    expect((await backend.counts(queue, CALL)).ready.value).toBe(6);
    const [done, failed, released, buried, ...held] = await claim(backend, queue);
    if (!done || !failed || !released || !buried) throw new Error('six jobs were ready');
    expect((await backend.renew(held, 30_000, CALL)).map(({ status }) => status)).toEqual([
      'renewed',
      'renewed',
    ]);
    const settling = await statuses(backend, [
      completion(done),
      { kind: 'retry', lease: failed, delayMs: 60_000, error: ERROR },
      { kind: 'release', lease: released, delayMs: 0, reason: 'stop' },
      { kind: 'bury', lease: buried, error: ERROR },
    ]);
    expect(settling).toEqual(['settled', 'settled', 'settled', 'settled']);
    const [redriven] = await backend.deadLetters.redrive(queue, { ids: [buried.id] }, CALL);
    expect(redriven?.status).toBe('redriven');
    await admin.config('SET', 'maxmemory', '0');
    const counts = await backend.counts(queue, CALL);
    expect([counts.ready.value, counts.scheduled.value, counts.leased.value]).toEqual([2, 1, 2]);
    expect(jobs).toHaveLength(6);
    admin.disconnect();
    await backend.close({ graceMs: 1000 });
  });
});

describe('a server that loads its data', () => {
  test('is away until it has loaded, and then works', async () => {
    await using server = await startRedis();
    const backend = await openBackend({ connection: server.url });
    const queue = freshQueue();
    const jobs = await put(backend, queue, 300);
    const admin = new Redis(server.url);
    // While it loads it looks up from its log after every 1,024th entry; each is made to take a millisecond.
    await Promise.all(Array.from({ length: 3000 }, (_, n) => admin.set(`filler:${n}`, '')));
    await admin.config('SET', 'key-load-delay', '1000');
    await admin.config('REWRITE');
    admin.disconnect();
    await server.stop();
    const starting = server.start();
    const codes = new Set<string>();
    await eventually(async () => {
      const [outcome] = await backend.enqueue([newJob(queue)], { timeoutMs: 5000 });
      if (outcome?.status === 'rejected') {
        const { cause } = outcome.error.cause as { cause?: Error };
        codes.add(`${outcome.error.code} ${String(cause?.message ?? '').slice(0, 7)}`);
      }
      return outcome?.status === 'accepted';
    }, 60_000);
    await starting;
    expect(codes).toContain('BACKEND_UNAVAILABLE LOADING');
    expect((await backend.counts(queue, CALL)).ready.value).toBe(jobs.length + 1);
    await backend.close({ graceMs: 1000 });
  });
});

describe('a failover', () => {
  // B118
  test('leads to the new primary: nothing is accepted that is not there, and work goes on', async () => {
    await using pair = await startRedisPair();
    await using proxy = await startTcpProxy(pair.primary);
    const backend = await openBackend({ connection: `redis://${proxy.host}:${proxy.port}` });
    const queue = freshQueue();
    const before = await put(backend, queue, 20);
    const [lease] = await claim(backend, queue, { max: 1 });
    if (lease === undefined) throw new Error('a job was ready');
    const other = freshQueue();
    const abort = new AbortController();
    const idle = claim(backend, other, { waitMs: 60_000, signal: abort.signal });
    await pair.failOver();
    // Connections of now lead to the demoted server, which is READONLY; new ones to the promoted.
    const stale = await backend.enqueue([newJob(queue)], CALL);
    expect(stale[0]?.status === 'rejected' && stale[0].error.code).toBe('BACKEND_UNAVAILABLE');
    expect(stale[0]?.status === 'rejected' && stale[0].error.retryable).toBe('yes');
    proxy.redirect(pair.primary);
    const [again] = await put(backend, queue);
    expect(await statuses(backend, [completion(lease)])).toEqual(['settled']);
    const ids = new Set((await claim(backend, queue, { max: 50 })).map(({ id }) => id));
    expect(ids.size).toBe(20);
    expect(before.filter(({ id }) => !ids.has(id))).toHaveLength(1);
    expect(ids.has(again?.id ?? '')).toBe(true);
    await put(backend, other);
    expect(await idle).toHaveLength(1);
    abort.abort();
    await backend.close({ graceMs: 1000 });
  });

  test('a slot that has moved to another node of a cluster is followed', async () => {
    await using cluster = await startRedisCluster();
    const backend = await openBackend({ connection: cluster.urls });
    const queue = freshQueue();
    await put(backend, queue, 5);
    const [held] = await claim(backend, queue, { max: 1 });
    if (held === undefined) throw new Error('a job was ready');
    const nodes = await Promise.all(cluster.urls.map(async (url) => new Redis(url)));
    const [first] = nodes;
    if (first === undefined) throw new Error('a cluster has nodes');
    const slot = await first.cluster('KEYSLOT', `surety:{${queue}}:jobs`);
    const keysOn = await Promise.all(nodes.map((node) => node.cluster('GETKEYSINSLOT', slot, 100)));
    const from = keysOn.findIndex((keys) => keys.length > 0);
    const to = (from + 1) % nodes.length;
    const [source, target] = [nodes[from], nodes[to]];
    if (!source || !target) throw new Error('the queue is on a node');
    const targetId = String(await target.cluster('MYID'));
    await source.cluster('SETSLOT', slot, 'MIGRATING', targetId);
    await target.cluster('SETSLOT', slot, 'IMPORTING', String(await source.cluster('MYID')));
    const port = new URL(cluster.urls[to] ?? '').port;
    await source.call('MIGRATE', '127.0.0.1', port, '', '0', '5000', 'KEYS', ...(keysOn[from] ?? []));
    for (const node of nodes) await node.cluster('SETSLOT', slot, 'NODE', targetId);
    await eventually(async () => (await statuses(backend, [completion(held)]))[0] === 'settled');
    await put(backend, queue);
    expect(await claim(backend, queue)).toHaveLength(5);
    for (const node of nodes) node.disconnect();
    await backend.close({ graceMs: 1000 });
  });
});

describe('a server that keeps nothing', () => {
  test('loses its jobs with its end, and that is told: leases are lost, counts are zero', async () => {
    await using server = await startRedis({ settings: { appendonly: 'no' } });
    const notices: Notice[] = [];
    const backend = await openBackend({ connection: server.url }, notices);
    expect(backend.capabilities.durability).toBe('memory');
    const queue = freshQueue();
    await put(backend, queue, 3);
    const held = await claim(backend, queue, { max: 2 });
    await server.kill();
    await server.start();
    await eventually(async () => (await backend.counts(queue, CALL)).ready.value === 0);
    expect((await backend.renew(held, 30_000, CALL)).map(({ status }) => status)).toEqual([
      'lease-lost',
      'lease-lost',
    ]);
    expect(await statuses(backend, held.map(completion))).toEqual(['lease-lost', 'lease-lost']);
    const told = () => notices.filter((each) => each.kind === 'warning' && each.code === 'STORE_DATA_LOST');
    await eventually(async () => told().length > 0);
    expect(told()).toHaveLength(1);
    await backend.close({ graceMs: 1000 });
  });
});
