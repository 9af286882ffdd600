import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';

/** Runs commands on a connection of its own, which is ended afterwards. Nothing is retried. */
export async function withRedis<T>(url: string, use: (client: Redis) => Promise<T>): Promise<T> {
  const client = new Redis(url, {
    lazyConnect: true,
    enableOfflineQueue: false,
    retryStrategy: () => null,
    connectTimeout: 5000,
    commandTimeout: 10_000,
    // The ready check would wait for a server that is loading; whoever asks wants to see that.
    enableReadyCheck: false,
    disableClientInfo: true,
  });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return await use(client);
  } finally {
    client.disconnect();
  }
}

/**
 * Asks until the server answers PING, which it refuses while it loads its data. `ended` says why there is nothing more to
 * wait for, if so.
 */
export async function awaitRedis(
  url: string,
  ended: () => string | undefined = () => undefined,
): Promise<void> {
  const deadline = performance.now() + 60_000;
  for (;;) {
    try {
      await withRedis(url, (client) => client.ping());
      return;
    } catch (error) {
      const reason = ended();
      if (reason !== undefined) throw new Error(reason, { cause: error });
      if (performance.now() > deadline)
        throw new Error('the Redis server did not answer within 60 s', { cause: error });
    }
    await sleep(10);
  }
}

/** Product and version, as `INFO server` tells them: a Valkey also names a version of Redis. */
export async function identify(url: string): Promise<{ product: 'Redis' | 'Valkey'; version: string }> {
  const info = await withRedis(url, (client) => client.info('server'));
  const valkey = /^valkey_version:(\S+)/m.exec(info)?.[1];
  if (valkey !== undefined) return { product: 'Valkey', version: valkey };
  return { product: 'Redis', version: /^redis_version:(\S+)/m.exec(info)?.[1] ?? 'unknown' };
}
