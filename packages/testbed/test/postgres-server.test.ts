import { existsSync } from 'node:fs';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type PostgresServer, startPostgres } from '../src/index.ts';
import { settlesWithin } from './eventually.ts';

let server: PostgresServer;

beforeAll(async () => {
  server = await startPostgres();
});

afterAll(async () => {
  await server.destroy();
});

async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5_000 });
  client.on('error', () => undefined);
  await client.connect();
  return client;
}

async function query<Row extends pg.QueryResultRow>(url: string, sql: string): Promise<Row[]> {
  const client = await connect(url);
  try {
    return (await client.query<Row>(sql)).rows;
  } finally {
    await client.end();
  }
}

describe('a private PostgreSQL server', () => {
  it('says where and what it is', async () => {
    expect(server.host).toBe('127.0.0.1');
    expect(server.version).toMatch(/^\d+\.\d+$/);
    expect(server.can).toEqual({ restart: true, kill: true, pause: true });
    const [row] = await query<{ port: number }>(server.url, 'select inet_server_port() as port');
    expect(row?.port).toBe(server.kind === 'docker' ? 5432 : server.port);
  });

  it('is as durable as the defaults say', async () => {
    const rows = await query<{ name: string; setting: string }>(
      server.adminUrl,
      "select name, setting from pg_settings where name in ('fsync', 'synchronous_commit', 'max_connections')",
    );
    expect(Object.fromEntries(rows.map((row) => [row.name, row.setting]))).toEqual({
      fsync: 'on',
      synchronous_commit: 'on',
      max_connections: '200',
    });
  });

  it('gives databases to a role that owns them and is no superuser', async () => {
    const url = await server.createDatabase();
    await query(url, 'create table owned (id int)');
    const [row] = await query<{ rolsuper: boolean }>(
      url,
      'select rolsuper from pg_roles where rolname = current_user',
    );
    expect(row?.rolsuper).toBe(false);
    await server.dropDatabase(url);
    await expect(query(url, 'select 1')).rejects.toMatchObject({ code: '3D000' });
  });

  it('drops a database that is in use, by its name', async () => {
    const url = await server.createDatabase('in "use"');
    const session = await connect(url);
    await server.dropDatabase('in "use"');
    await expect(session.query('select 1')).rejects.toThrow();
    await session.end().catch(() => undefined);
  });

  it('refuses a name that PostgreSQL would cut', async () => {
    await expect(server.createDatabase('x'.repeat(64))).rejects.toThrow('63 bytes');
  });

  it.each(['restart', 'kill'] as const)('keeps committed rows over %s, and nothing else', async (how) => {
    const url = await server.createDatabase();
    await query(url, 'create table kept (id int)');
    await query(url, 'insert into kept values (1)');
    const open = await connect(url);
    await open.query('begin');
    await open.query('insert into kept values (2)');

    if (how === 'restart') await server.restart();
    else {
      await server.kill();
      await expect(connect(url)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
      await server.start();
    }

    expect(await query(url, 'select id from kept')).toEqual([{ id: 1 }]);
    await expect(open.query('commit')).rejects.toThrow();
    await server.dropDatabase(url);
  });

  it('comes back on the same port after stop, which may be called twice', async () => {
    await server.stop();
    await server.stop();
    await expect(connect(server.url)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    await expect(server.pause()).rejects.toThrow('is down');
    await server.start();
    await server.start();
    await query(server.url, 'select 1');
  });

  it('hangs while paused and goes on with what was asked meanwhile', async () => {
    const session = await connect(server.url);
    await server.pause();
    const answer = session.query<{ one: number }>('select 1 as one');
    expect(await settlesWithin(answer, 300)).toBe(false);
    await server.resume();
    expect((await answer).rows).toEqual([{ one: 1 }]);
    await session.end();
  });

  it('can be stopped and killed while paused', async () => {
    await server.pause();
    await server.stop();
    await server.start();
    await server.pause();
    await server.kill();
    await server.start();
    await query(server.url, 'select 1');
  });

  it('takes a killed server through several recoveries', async () => {
    const url = await server.createDatabase();
    await query(url, 'create table counted (id int)');
    for (let round = 1; round <= 5; round++) {
      await query(url, `insert into counted values (${round})`);
      await server.kill();
      await server.start();
    }
    expect(await query(url, 'select count(*)::int as n from counted')).toEqual([{ n: 5 }]);
    await server.dropDatabase(url);
  });
});

describe('options', () => {
  it('puts settings over the defaults and shows the log of a server that does not start', async () => {
    await using small = await startPostgres({
      settings: { max_connections: '17', application_name: "it's" },
    });
    expect(await query(small.adminUrl, 'show max_connections')).toEqual([{ max_connections: '17' }]);
    await expect(startPostgres({ settings: { shared_buffers: 'plenty' } })).rejects.toThrow(
      /invalid value for parameter "shared_buffers"/,
    );
    await expect(startPostgres({ port: small.port })).rejects.toThrow(/Address already in use/);
  });

  it('leaves nothing of a destroyed server, killed before or not', async () => {
    const destroyed = await startPostgres();
    const [row] = await query<{ folder: string }>(
      destroyed.adminUrl,
      'select current_setting($$data_directory$$) as folder',
    );
    await destroyed.kill();
    await destroyed.destroy();
    await destroyed.destroy();
    expect(existsSync(row?.folder ?? '')).toBe(false);
    await expect(destroyed.start()).rejects.toThrow('destroyed');
  });
});

describe('an external server', () => {
  it('is used but not acted on', async () => {
    process.env['SURETY_TEST_POSTGRES_URL'] = server.adminUrl;
    try {
      const external = await startPostgres();
      expect(external.kind).toBe('external');
      expect(external.can).toEqual({ restart: false, kill: false, pause: false });
      for (const operation of ['start', 'stop', 'restart', 'kill', 'pause', 'resume'] as const) {
        await expect(external[operation](), operation).rejects.toThrow('not possible on the external server');
      }
      const url = await external.createDatabase();
      await query(url, 'select 1');
      await external.destroy();
      await expect(query(url, 'select 1')).rejects.toMatchObject({ code: '3D000' });
      await query(server.url, 'select 1');
    } finally {
      delete process.env['SURETY_TEST_POSTGRES_URL'];
    }
  });

  it('that does not answer is named, and nothing else is started instead', async () => {
    process.env['SURETY_TEST_POSTGRES_URL'] = 'postgres://nobody@127.0.0.1:1/none';
    try {
      await expect(startPostgres()).rejects.toThrow('SURETY_TEST_POSTGRES_URL does not answer');
    } finally {
      delete process.env['SURETY_TEST_POSTGRES_URL'];
    }
  });
});
