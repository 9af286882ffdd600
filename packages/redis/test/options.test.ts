import { CONTRACT_VERSION } from '@surety/core/contract';
import { isSuretyError } from '@surety/core/errors';
import { Cluster, Redis } from 'ioredis';
import { describe, expect, test } from 'vitest';
import { type RedisOptions, redis } from '../src/index.ts';

const connection = 'redis://user:secret-word@127.0.0.1:1/0';

function refusal(options: unknown): string {
  try {
    redis(options as RedisOptions);
  } catch (error) {
    if (isSuretyError(error) && error.code === 'OPTIONS_INVALID') return error.message;
    throw error;
  }
  throw new Error('the options were accepted');
}

describe('options', () => {
  test.each([
    ['unknown', { connection, colour: 'red' }, '"colour"'],
    ['neither connection nor client', {}, '"connection" and "client"'],
    ['both', { connection, client: new Redis({ lazyConnect: true }) }, '"connection" and "client"'],
    ['not a URL', { connection: 'localhost?password=secret-word' }, '"connection"'],
    ['a database by name', { connection: 'redis://user:secret-word@h/jobs' }, 'number of a database'],
    ['another protocol', { connection: 'http://user:secret-word@h' }, '"connection"'],
    ['a cluster without nodes', { connection: [] }, '"connection"'],
    ['a node that is no URL', { connection: [connection, 'host:6379'] }, '"connection"'],
    ['a number', { connection: 6379 }, '"connection"'],
    ['a client that is none', { client: {} }, '"client"'],
    // B117: the first braces of a key decide about its slot.
    ['a prefix that is a hash tag', { connection, prefix: '{mine}' }, '"prefix"'],
    ['a prefix that opens a hash tag', { connection, prefix: 'a{' }, '"prefix"'],
    ['an empty prefix', { connection, prefix: '' }, '"prefix"'],
    ['a client whose prefix splits a queue', { client: lazyCluster('{}:') }, '"keyPrefix"'],
    ['options whose prefix splits a queue', { connection: { host: 'h', keyPrefix: '{}' } }, '"keyPrefix"'],
    ['polling too often', { connection, pollMs: 1 }, '"pollMs"'],
    ['polling past the bound of a lost lease', { connection, pollMs: 2001 }, '"pollMs"'],
    ['not a number', { connection, keepCompletedMs: Number.NaN }, '"keepCompletedMs"'],
    ['records without a bound', { connection, keepCompletedMost: 1e9 }, '"keepCompletedMost"'],
    ['an unknown durability', { connection, durability: 'very' }, '"durability"'],
    ['confirmation of nothing', { connection, confirm: {} }, '"confirm"'],
    ['an unknown confirmation', { connection, confirm: { fsync: true, often: 1 } }, '"confirm.often"'],
    ['confirmation on a cluster', { connection: [connection], confirm: { replicas: 1 } }, '"confirm"'],
    ['not a flag', { connection, acceptEviction: 1 }, '"acceptEviction"'],
  ])('%s is refused by name', (_, options, named) => {
    const message = refusal(options);
    expect(message).toContain(named);
    expect(message).not.toContain('secret-word');
  });

  test('capabilities are there before open, and nothing is connected', () => {
    const backend = redis({ connection });
    expect(backend.contractVersion).toBe(CONTRACT_VERSION);
    expect(backend.capabilities.durability).toBe('process-crash');
    expect(Object.isFrozen(backend.capabilities)).toBe(true);
    expect(backend.health().ok).toBe(false);
  });

  test('what is asked for is what is stated', () => {
    expect(redis({ connection, durability: 'fsync' }).capabilities.durability).toBe('fsync');
    expect(redis({ connection, confirm: { fsync: true } }).capabilities.durability).toBe('fsync');
    const { durability } = redis({ connection, confirm: { replicas: 2 } }).capabilities;
    expect(durability).toEqual({ replicated: 2 });
  });
});

function lazyCluster(keyPrefix: string): Cluster {
  return new Cluster([{ host: '127.0.0.1', port: 1 }], { lazyConnect: true, keyPrefix });
}
