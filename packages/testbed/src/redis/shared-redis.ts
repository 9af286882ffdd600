import { askForBroker } from '../sharing/ask-for-broker.ts';
import type { RedisAccess } from './redis-server.ts';
import { startRedis } from './start-redis.ts';

let access: Promise<RedisAccess> | undefined;

/**
 * The server that all test files of a run share: keep to a prefix of your own, and do not flush it. It cannot be stopped or
 * killed from here, since others use it: for that, start one of your own.
 *
 * With `vitest-global-setup.ts` in the vitest configuration it belongs to vitest's main process and starts when the first
 * test file asks. Without, every process that asks gets one of its own.
 */
export function sharedRedis(): Promise<RedisAccess> {
  access ??= openShared();
  return access;
}

async function openShared(): Promise<RedisAccess> {
  const socketPath = process.env['SURETY_TESTBED_SOCKET'];
  if (socketPath === undefined) return startRedis();
  return (await askForBroker(socketPath, 'redis')) as RedisAccess;
}
