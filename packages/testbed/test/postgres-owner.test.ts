import { existsSync } from 'node:fs';
import pg from 'pg';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { startChild } from '../src/index.ts';
import { setup, teardown } from '../src/vitest-global-setup.ts';
import { eventually } from './eventually.ts';

async function ask(url: string, sql: string): Promise<string> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5_000 });
  client.on('error', () => undefined);
  await client.connect();
  const { rows } = await client.query<{ answer: string }>(sql);
  await client.end();
  return rows[0]?.answer ?? '';
}

const isRefused = (url: string) => (): Promise<boolean> =>
  ask(url, 'select 1 as answer').then(
    () => false,
    (error: NodeJS.ErrnoException) => error.code === 'ECONNREFUSED',
  );

describe('a server whose process dies', () => {
  it.each([false, true])('ends with it and leaves nothing (paused: %s)', async (paused) => {
    const script = new URL('programs/postgres-owner.ts', import.meta.url);
    await using owner = await startChild(script);
    const url = await owner.call<string>('adminUrl');
    const folder = await ask(url, "select current_setting('data_directory') as answer");
    expect(existsSync(folder)).toBe(true);
    if (paused) await owner.call('pause');

    await owner.kill9();

    await eventually('the folder is gone', () => !existsSync(folder), 15_000);
    await eventually('the port is closed', isRefused(url));
  });
});

describe('a shared server', () => {
  afterEach(async () => {
    await teardown();
    vi.unstubAllEnvs();
  });

  it('starts when the first process asks, serves all, and ends with the run', async () => {
    vi.stubEnv('SURETY_TESTBED_SOCKET', undefined);
    await setup();
    const socketPath = process.env['SURETY_TESTBED_SOCKET'] ?? '';
    expect(existsSync(socketPath)).toBe(true);

    const script = new URL('programs/shared-postgres-user.ts', import.meta.url);
    await using one = await startChild(script);
    await using other = await startChild(script);
    const urls = await Promise.all(
      [one, other].map((user) => user.call<string>('createDatabase', null, 30_000)),
    );
    const [first = '', second = ''] = urls;
    expect(new URL(first).port).toBe(new URL(second).port);
    expect(new URL(first).pathname).not.toBe(new URL(second).pathname);
    await one.kill9();
    expect(await ask(second, 'select current_user as answer')).toBe('surety');

    await teardown();
    expect(existsSync(socketPath)).toBe(false);
    expect(await isRefused(second)()).toBe(true);
  });

  it('takes the offer of a process around it', async () => {
    vi.stubEnv('SURETY_TESTBED_SOCKET', '/somebody/elses.sock');
    await setup();
    await teardown();
    expect(process.env['SURETY_TESTBED_SOCKET']).toBe('/somebody/elses.sock');
  });
});
