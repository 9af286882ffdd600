import { CONTRACT_VERSION } from '@surety/core/contract';
import { isSuretyError } from '@surety/core/errors';
import pg from 'pg';
import { describe, expect, test } from 'vitest';
import { type PostgresOptions, postgres } from '../src/index.ts';

const url = 'postgres://user:secret-word@127.0.0.1:1/db';

function refusal(options: unknown): string {
  try {
    postgres(options as PostgresOptions);
  } catch (error) {
    if (isSuretyError(error) && error.code === 'OPTIONS_INVALID') return error.message;
    throw error;
  }
  throw new Error('the options were accepted');
}

describe('options', () => {
  test.each([
    ['unknown', { url, colour: 'red' }, '"colour"'],
    ['neither url nor pool', {}, '"url" and "pool"'],
    ['both', { url, pool: new pg.Pool() }, '"url" and "pool"'],
    ['not a URL', { url: 'localhost/db?password=secret-word' }, '"url"'],
    ['another protocol', { url: 'mysql://user:secret-word@h/db' }, '"url"'],
    ['two hosts', { url: 'postgres://user:secret-word@one,two/db' }, 'several hosts'],
    ['two hosts with ports', { url: 'postgres://user:secret-word@one:1,two:2/db' }, 'several hosts'],
    ['two hosts as a parameter', { url: 'postgres://user:secret-word@/db?host=one,two' }, 'several hosts'],
    ['a pool that is none', { pool: {} }, '"pool"'],
    ['a size for a given pool', { pool: new pg.Pool(), poolSize: 2 }, '"poolSize"'],
    ['a schema with a quote', { url, schema: 'a"b' }, '"schema"'],
    ['a schema of the system', { url, schema: 'pg_mine' }, '"schema"'],
    ['a schema too long for a channel', { url, schema: 'a'.repeat(51) }, '"schema"'],
    ['polling too often', { url, pollMs: 1 }, '"pollMs"'],
    ['a fraction', { url, poolSize: 1.5 }, '"poolSize"'],
    ['not a number', { url, keepCompletedMs: Number.NaN }, '"keepCompletedMs"'],
    ['not a flag', { url, migrate: 'yes' }, '"migrate"'],
  ])('%s is refused by name', (_, options, named) => {
    const message = refusal(options);
    expect(message).toContain(named);
    expect(message).not.toContain('secret-word');
  });

  test('a comma in a password is no second host', () => {
    expect(postgres({ url: 'postgres://user:a,b@host/db?application_name=a,b' }).name).toBe('postgres');
  });

  test('capabilities are there before open, and nothing is connected', () => {
    const backend = postgres({ url });
    expect(backend.contractVersion).toBe(CONTRACT_VERSION);
    expect(backend.capabilities.durability).toBe('fsync');
    expect(Object.isFrozen(backend.capabilities)).toBe(true);
    expect(backend.health().ok).toBe(false);
  });
});
