import { setTimeout as sleep } from 'node:timers/promises';
import { withRedis } from './ask-server.ts';
import { findRedisProgram } from './find-program.ts';
import { operateRedis } from './operate-redis.ts';
import { createRedisProcess } from './redis-process.ts';
import type { RedisServer } from './redis-server.ts';
import { type RedisServerOptions, startRedis } from './start-redis.ts';

/** A primary and its replica under the eyes of one Sentinel, which makes the replica the primary when the primary is gone. */
export interface RedisSentinel extends AsyncDisposable {
  /** Where the Sentinel is asked. */
  readonly host: string;
  readonly port: number;
  /** The name under which it knows the primary. */
  readonly name: string;
  /** Which is the primary changes with every failover; the Sentinel tells. */
  readonly servers: readonly [RedisServer, RedisServer];
  /** The one that the Sentinel names as the primary now, and the other. */
  roles(): Promise<{ readonly primary: RedisServer; readonly other: RedisServer }>;
  destroy(): Promise<void>;
}

const NAME = 'primary';
/** Short, so that a failover takes seconds; a machine that stands still for so long causes one too. */
const DOWN_AFTER_MS = 1500;
const READY_WITHIN_MS = 60_000;

/** Starts two servers and a Sentinel that watches them, on free ports of 127.0.0.1. */
export async function startRedisSentinel(options: RedisServerOptions = {}): Promise<RedisSentinel> {
  const started: RedisServer[] = [];
  const destroy = async (): Promise<void> => {
    // The Sentinel first: it would see the end of the others as a failure.
    for (const server of started.toReversed()) await server.destroy();
  };
  try {
    const first = await startRedis(options);
    started.push(first);
    const second = await startRedis({
      ...options,
      settings: { ...options.settings, replicaof: `${first.host} ${first.port}` },
    });
    started.push(second);
    const sentinel = await startWatching(first);
    started.push(sentinel);
    await replicaIsKnown(sentinel);
    const servers = [first, second] as const;
    return {
      host: sentinel.host,
      port: sentinel.port,
      name: NAME,
      servers,
      async roles() {
        const port = await primaryPort(sentinel);
        const [primary, other] = port === first.port ? servers : [second, first];
        return { primary, other };
      },
      destroy,
      [Symbol.asyncDispose]: destroy,
    };
  } catch (error) {
    await destroy();
    throw error;
  }
}

/** The same program under another name. Alone it is the majority. */
async function startWatching(primary: RedisServer): Promise<RedisServer> {
  const program = { ...(await findRedisProgram()), argv0: 'redis-sentinel' };
  const settings = {
    'sentinel monitor': `${NAME} ${primary.host} ${primary.port} 1`,
    'sentinel down-after-milliseconds': `${NAME} ${DOWN_AFTER_MS}`,
    'sentinel failover-timeout': `${NAME} 10000`,
    'sentinel parallel-syncs': `${NAME} 1`,
  };
  return operateRedis(await createRedisProcess(program, settings, undefined));
}

/** It promotes only what it knows and has found in good order. */
async function replicaIsKnown(sentinel: RedisServer): Promise<void> {
  const deadline = performance.now() + READY_WITHIN_MS;
  for (;;) {
    const replicas = await withRedis(sentinel.url, (client) => client.call('SENTINEL', 'REPLICAS', NAME));
    const text = JSON.stringify(replicas);
    if (text.includes('"master-link-status","ok"') && text.includes('"flags","slave"')) return;
    if (performance.now() > deadline)
      throw new Error(`the Sentinel did not find the replica within ${READY_WITHIN_MS} ms: ${text}`);
    await sleep(50);
  }
}

async function primaryPort(sentinel: RedisServer): Promise<number> {
  const address = await withRedis(sentinel.url, (client) =>
    client.call('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', NAME),
  );
  return Number((address as string[] | null)?.[1]);
}
