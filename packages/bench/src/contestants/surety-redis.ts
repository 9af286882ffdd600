import type { LogChoice } from '@surety/core';
import { redis } from '@surety/redis';
import { observeRedisKeys } from '../observers/redis-keys.ts';
import type { Contestant } from './contestant.ts';
import { OURS, OURS_LOGGED } from './names.ts';
import { suretyOn } from './surety.ts';

export const suretyOnRedis: Contestant = onRedis(OURS, 'none');
export const suretyOnRedisLogged: Contestant = onRedis(OURS_LOGGED, 'all');

function onRedis(name: string, log: LogChoice): Contestant {
  return suretyOn({
    name,
    log,
    packages: ['@surety/redis', 'ioredis'],
    backend: (url) => redis({ connection: url }),
    // A job in whatever state has its body in this hash; a completed job has none.
    observe: (url) => observeRedisKeys(url, (client) => client.hlen('surety:{bench}:jobs')),
  });
}
