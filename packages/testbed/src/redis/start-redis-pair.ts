import { setTimeout as sleep } from 'node:timers/promises';
import { withRedis } from './ask-server.ts';
import type { RedisServer } from './redis-server.ts';
import { type RedisServerOptions, startRedis } from './start-redis.ts';

/** A primary and its replica. Who is which changes with `failOver`. */
export interface RedisPair extends AsyncDisposable {
  readonly primary: RedisServer;
  readonly replica: RedisServer;
  /** The replica becomes the primary and the primary, which must run, its replica: sessions on it are READONLY from then on. */
  failOver(): Promise<void>;
  /** Resolves once the replica has all that the primary had when it was called. */
  caughtUp(): Promise<void>;
  destroy(): Promise<void>;
}

const SYNC_WITHIN_MS = 30_000;

/** Starts two servers of which the second replicates the first. */
export async function startRedisPair(options: RedisServerOptions = {}): Promise<RedisPair> {
  const servers = [await startRedis(options), await startRedis(options)] as const;
  let primary: RedisServer = servers[0];
  let replica: RedisServer = servers[1];
  const destroy = async (): Promise<void> =>
    void (await Promise.all(servers.map((server) => server.destroy())));
  try {
    await follow(replica, primary);
  } catch (error) {
    await destroy();
    throw error;
  }
  return {
    get primary() {
      return primary;
    },
    get replica() {
      return replica;
    },
    async failOver() {
      await caughtUp(primary, replica);
      await withRedis(replica.url, (client) => client.replicaof('NO', 'ONE'));
      [primary, replica] = [replica, primary];
      await follow(replica, primary);
    },
    caughtUp: () => caughtUp(primary, replica),
    destroy,
    [Symbol.asyncDispose]: destroy,
  };
}

async function follow(replica: RedisServer, primary: RedisServer): Promise<void> {
  await withRedis(replica.url, (client) => client.replicaof(primary.host, primary.port));
  await until(replica, (info) => info.includes('master_link_status:up'), 'the replica to be in sync');
}

async function caughtUp(primary: RedisServer, replica: RedisServer): Promise<void> {
  const offset = /master_repl_offset:(\d+)/.exec(await infoOf(primary))?.[1] ?? '0';
  const reached = (info: string): boolean =>
    Number(/slave_repl_offset:(\d+)/.exec(info)?.[1] ?? -1) >= Number(offset);
  await until(replica, reached, 'the replica to catch up');
}

async function until(server: RedisServer, reached: (info: string) => boolean, what: string): Promise<void> {
  const deadline = performance.now() + SYNC_WITHIN_MS;
  while (!reached(await infoOf(server))) {
    if (performance.now() > deadline) throw new Error(`waited ${SYNC_WITHIN_MS} ms for ${what}`);
    await sleep(20);
  }
}

function infoOf(server: RedisServer): Promise<string> {
  return withRedis(server.url, (client) => client.info('replication'));
}
