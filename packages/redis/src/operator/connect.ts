import type { Backend } from '@surety/core/contract';
import { type RedisOptions, redis } from '../index.ts';

/** For other processes of a trial: its keys, opened once more. */
export function connect(args: RedisOptions): Backend {
  return redis(args);
}
