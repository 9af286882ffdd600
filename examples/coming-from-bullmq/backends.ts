import type { Backend } from '@surety/core';
import { type RedisCapabilities, redis } from '@surety/redis';

export function everySecond(url: string): Backend<RedisCapabilities> {
  // region: plain
  return redis({
    connection: url, // redis://user:password@host:port/db; rediss:// for TLS
    durability: 'process-crash', // refuse a server without a log
  });
  // endregion
}

export function synced(url: string): Backend<RedisCapabilities> {
  // region: synced
  return redis({
    connection: url,
    durability: 'fsync', // refuse a server whose appendfsync is not always
  });
  // endregion
}

export function replicated(url: string): Backend<RedisCapabilities> {
  // region: replicated
  return redis({
    connection: url,
    confirm: { replicas: 1, withinMs: 3000 }, // WAIT; with `fsync: true` WAITAOF: on the disks too, Redis 7.2 or Valkey
  });
  // endregion
}

export function cluster(urls: readonly string[]): Backend<RedisCapabilities> {
  // region: cluster
  return redis({
    connection: urls, // some of its nodes; the others are found through them
  });
  // endregion
}
