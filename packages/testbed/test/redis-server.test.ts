import { existsSync } from 'node:fs';
import { Redis } from 'ioredis';
import { describe, expect, test } from 'vitest';
import { sharedRedis, startChild, startRedis, startRedisCluster, startRedisPair } from '../src/index.ts';
import { eventually } from './eventually.ts';

async function withClient<T>(url: string, use: (client: Redis) => Promise<T>): Promise<T> {
  const client = new Redis(url, { retryStrategy: () => null, lazyConnect: true });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return await use(client);
  } finally {
    client.disconnect();
  }
}

describe('a private Redis server', () => {
  test('keeps what it was told over a kill and over a stop, on the same port', async () => {
    await using server = await startRedis({ settings: { appendfsync: 'always' } });
    expect(server.version).toMatch(/^\d+\.\d+\.\d+/);
    await withClient(server.url, (client) => client.set('a', '1'));
    await server.kill();
    await expect(withClient(server.url, (client) => client.get('a'))).rejects.toThrow();
    await server.start();
    await server.restart();
    expect(await withClient(server.url, (client) => client.get('a'))).toBe('1');
  });

  test('answers nothing while it is frozen, and goes on afterwards', async () => {
    await using server = await startRedis();
    const client = new Redis(server.url);
    await client.ping();
    await server.pause();
    const answer = client.ping();
    const first = await Promise.race([answer, new Promise((resolve) => setTimeout(resolve, 300, 'silence'))]);
    expect(first).toBe('silence');
    await server.resume();
    expect(await answer).toBe('PONG');
    client.disconnect();
  });

  test('refuses what its state rules out', async () => {
    const server = await startRedis();
    await server.stop();
    await expect(server.pause()).rejects.toThrow('down');
    await server.destroy();
    await server.destroy();
    await expect(server.start()).rejects.toThrow('destroyed');
  });

  test('says why it did not start', async () => {
    await expect(startRedis({ settings: { 'no-such-setting': 'x' } })).rejects.toThrow('no-such-setting');
  });

  test.each([false, true])('ends with the process that started it (paused: %s)', async (paused) => {
    await using owner = await startChild(new URL('programs/redis-owner.ts', import.meta.url));
    const url = await owner.call<string>('url');
    const folder = await withClient(url, (client) => client.config('GET', 'dir') as Promise<string[]>);
    if (paused) await owner.call('pause');
    await owner.kill9();
    await eventually('the folder is gone', () => !existsSync(folder[1] ?? ''), 15_000);
    await eventually('the port is closed', () =>
      withClient(url, (client) => client.ping()).then(
        () => false,
        () => true,
      ),
    );
  });

  test('is shared by all who ask for the shared one', async () => {
    expect((await sharedRedis()).url).toBe((await sharedRedis()).url);
    await withClient((await sharedRedis()).url, (client) => client.ping());
  });
});

describe('several Redis servers', () => {
  test('a cluster takes writes for every slot, also after a kill of all its nodes', async () => {
    await using cluster = await startRedisCluster();
    const writes = async (): Promise<void> => {
      const slots = new Set<number>();
      for (const url of cluster.urls) {
        const info = await withClient(url, (client) => client.cluster('SLOTS'));
        for (const [from, to] of info) for (let slot = from; slot <= to; slot += 1) slots.add(slot);
      }
      expect(slots.size).toBe(16_384);
    };
    await writes();
    await cluster.kill();
    await cluster.start();
    await writes();
  });

  test('a failover makes the replica the primary, with all that was written', async () => {
    await using pair = await startRedisPair();
    const [old, next] = [pair.primary.url, pair.replica.url];
    await withClient(old, (client) => client.set('a', '1'));
    await pair.failOver();
    expect([pair.primary.url, pair.replica.url]).toEqual([next, old]);
    expect(await withClient(next, (client) => client.get('a'))).toBe('1');
    await withClient(next, (client) => client.set('b', '2'));
    await expect(withClient(old, (client) => client.set('c', '3'))).rejects.toThrow('READONLY');
    await pair.caughtUp();
    expect(await withClient(old, (client) => client.get('b'))).toBe('2');
  });
});
