import { Redis } from 'ioredis';
import type { Observer } from './observer.ts';

/** `count`: how many jobs there are, by the keys of whose they are. */
export async function observeRedisKeys(
  url: string,
  count: (client: Redis) => Promise<number>,
): Promise<Observer> {
  const client = new Redis(url, { lazyConnect: true, retryStrategy: () => null, commandTimeout: 60_000 });
  // A connection that breaks rejects the command under way; without a listener it would be reported as unhandled too.
  client.on('error', () => undefined);
  await client.connect();
  const jobsLeft = (): Promise<number> => count(client);
  return {
    isEmpty: async () => (await jobsLeft()) === 0,
    jobsLeft,
    async close() {
      client.disconnect();
    },
  };
}
