import { createServer } from 'node:net';
import type { Notice } from '@surety/core/contract';
import { isSuretyError } from '@surety/core/errors';
import { type RedisServerOptions, startRedis, startRedisCluster, startRedisPair } from '@surety/testbed';
import { Cluster, Redis } from 'ioredis';
import { describe, expect, test } from 'vitest';
import { type RedisOptions, redis } from '../src/index.ts';
import { claim, openBackend, put, request, useStore } from './store.ts';

/** Why `open` refuses, as code and message. */
async function refusal(options: RedisOptions): Promise<string> {
  const backend = redis(options);
  try {
    await backend.open({ timeoutMs: 5000, notify: () => {} });
  } catch (error) {
    if (isSuretyError(error)) return `${error.code}: ${error.message}`;
    throw error;
  } finally {
    await backend.close({ graceMs: 0 });
  }
  return 'opened';
}

async function onServer<T>(
  settings: RedisServerOptions['settings'],
  use: (url: string) => Promise<T>,
): Promise<T> {
  await using server = await startRedis(settings === undefined ? {} : { settings });
  return await use(server.url);
}

describe('what open finds', () => {
  const store = useStore();

  // B115
  test.each(['allkeys-lru', 'volatile-ttl'])(
    'a server that evicts by %s is refused, unless that is accepted',
    (policy) =>
      onServer({ 'maxmemory-policy': policy }, async (connection) => {
        const why = await refusal({ connection });
        expect(why).toMatch(/^STORE_UNSUITABLE: .*maxmemory-policy/);
        expect(why).toContain(policy);
        expect(await refusal({ connection, acceptEviction: true })).toBe('opened');
      }),
  );

  test('a server that keeps no log states it, warns, and is refused where more was asked for', () =>
    onServer({ appendonly: 'no' }, async (connection) => {
      const notices: Notice[] = [];
      const backend = await openBackend({ connection }, notices);
      expect(backend.capabilities.durability).toBe('memory');
      expect(notices).toContainEqual(expect.objectContaining({ kind: 'warning', code: 'STORE_NOT_DURABLE' }));
      await backend.close({ graceMs: 1000 });
      expect(await refusal({ connection, durability: 'process-crash' })).toMatch(/^STORE_UNSUITABLE/);
      expect(await refusal({ connection, confirm: { fsync: true } })).toMatch(/^STORE_UNSUITABLE/);
    }));

  test('a log that is synced at once is stated; one that is synced later does not do for it', async () => {
    await onServer({ appendfsync: 'always' }, async (connection) => {
      const backend = await openBackend({ connection });
      expect(backend.capabilities.durability).toBe('fsync');
      await backend.close({ graceMs: 1000 });
    });
    expect(await refusal({ connection: store.url, durability: 'fsync' })).toMatch(/^STORE_UNSUITABLE/);
  });

  test('a replica is refused', async () => {
    await using pair = await startRedisPair();
    expect(await refusal({ connection: pair.replica.url })).toMatch(/^STORE_READ_ONLY/);
    expect(await refusal({ connection: pair.primary.url })).toBe('opened');
  });

  test('a node of a cluster is refused to a client that knows nothing of clusters', async () => {
    await using cluster = await startRedisCluster();
    const [first = ''] = cluster.urls;
    expect(await refusal({ connection: first })).toMatch(/^STORE_UNSUITABLE: .*cluster/);
    expect(await refusal({ connection: [first] })).toBe('opened');
    const client = new Cluster([first], { lazyConnect: true });
    expect(await refusal({ client })).toBe('opened');
  });

  test('a Redis before 7.0 is refused', async () => {
    const old = createServer((socket) => {
      const info = 'redis_version:6.2.14\r\nrole:master\r\n';
      socket.on('error', () => undefined);
      socket.on('data', (data) => {
        // Each command of the opening is answered as the old server would.
        for (const _ of String(data).match(/\$4\r\ninfo/gi) ?? [])
          socket.write(`$${info.length}\r\n${info}\r\n`);
        for (const _ of String(data).match(/\$6\r\nclient/gi) ?? []) socket.write('+OK\r\n');
        for (const _ of String(data).match(/\$5\r\nhello/gi) ?? [])
          socket.write("-ERR unknown command 'HELLO'\r\n");
      });
    });
    await new Promise<void>((resolve) => old.listen(0, '127.0.0.1', resolve));
    const { port } = old.address() as { port: number };
    expect(await refusal({ connection: `redis://127.0.0.1:${port}` })).toMatch(
      /^STORE_UNSUITABLE: .*6\.2\.14/,
    );
    await new Promise((resolve) => old.close(resolve));
  });

  test('WAITAOF is not asked of a server that does not know it', async () => {
    const version = /redis_version:(\S+)/.exec(await store.client.info('server'))?.[1] ?? '';
    const why = await refusal({ connection: store.url, confirm: { fsync: true } });
    expect(why).toMatch(version.startsWith('7.0') ? /^STORE_UNSUITABLE: .*WAITAOF/ : /^opened$/);
  });

  test('a database that the server has not is refused, rather than another used', async () => {
    expect(await refusal({ connection: `${store.url}/99` })).toMatch(/^STORE_UNSUITABLE: .*no database 99/);
    const { hostname: host, port } = new URL(store.url);
    expect(await refusal({ connection: { host, port: Number(port), db: 99 } })).toMatch(/^STORE_UNSUITABLE/);
    expect(await refusal({ connection: `${store.url}/1` })).toBe('opened');
  });

  test('what is no Redis is told as such', async () => {
    const other = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.once('data', () => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
    });
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const { port } = other.address() as { port: number };
    expect(await refusal({ connection: `redis://127.0.0.1:${port}` })).toMatch(
      /^BACKEND_UNAVAILABLE: .*does not speak the protocol of Redis/,
    );
    await new Promise((resolve) => other.close(resolve));
  });

  test('a wrong password is told without showing it', async () => {
    const why = await refusal({ connection: store.url.replace('redis://', 'redis://nobody:secret-word@') });
    expect(why).toMatch(/^PERMISSION_DENIED/);
    expect(why).not.toContain('secret-word');
  });

  test('a user without CONFIG and INFO, as on managed services, can work and is warned', async () => {
    await store.client.call('ACL', 'SETUSER', 'limited', 'on', '>word', '~*', '+@all', '-config', '-info');
    try {
      const notices: Notice[] = [];
      const connection = store.url.replace('redis://', 'redis://limited:word@');
      const backend = await openBackend({ connection, prefix: store.prefix }, notices);
      expect(notices).toContainEqual(
        expect.objectContaining({ kind: 'warning', code: 'STORE_NOT_EXAMINED' }),
      );
      await put(backend, 'limited');
      expect(await claim(backend, 'limited')).toHaveLength(1);
      await backend.close({ graceMs: 1000 });
    } finally {
      await store.client.call('ACL', 'DELUSER', 'limited');
    }
  });
});

/** Of that client; far above what a busy machine takes for a command, far below a blocking wait. */
const COMMAND_TIMEOUT_MS = 1500;

describe('a client of the application', () => {
  const store = useStore();

  test('is neither used nor closed, and its unsafe settings are not taken over', async () => {
    const client = new Redis(store.url, {
      commandTimeout: COMMAND_TIMEOUT_MS,
      keyPrefix: 'app:',
      connectionName: 'app',
    });
    await client.ping();
    const notices: Notice[] = [];
    const backend = await store.open({ client }, notices);
    await put(backend, 'given');
    // A blocking wait longer than the time limit of that client's commands.
    const abort = new AbortController();
    const waiting = backend.claim(request('other', { waitMs: 60_000, signal: abort.signal }));
    expect(await claim(backend, 'given')).toHaveLength(1);
    const list = String(await store.client.client('LIST'));
    const own = list.split('\n').filter((line) => line.includes('name=app '));
    expect(own).toHaveLength(1);
    expect(own[0]).toMatch(/cmd=(?:ping|info)/);
    expect(list).toMatch(/name=surety .*cmd=(?:blpop|evalsha|eval)/);
    await new Promise((resolve) => setTimeout(resolve, 1.2 * COMMAND_TIMEOUT_MS));
    await put(backend, 'other');
    expect((await waiting).leases).toHaveLength(1);
    // A pop that had ended with that limit would have been told.
    expect(notices).toEqual([]);
    abort.abort();
    await backend.close({ graceMs: 1000 });
    expect(await client.ping()).toBe('PONG');
    expect(await store.client.exists(`app:${store.prefix}:{given}:jobs`)).toBe(1);
    await store.client.del(await store.client.keys(`app:${store.prefix}*`));
    client.disconnect();
  });
});
