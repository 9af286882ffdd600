import { randomBytes } from 'node:crypto';
import { type PostgresServer, startPostgres } from '@surety/testbed';
import pg from 'pg';
import { withPostgres } from '../contestants/postgres-client.ts';
import { parentOf, processTreeCpuUs } from './process-tree-cpu.ts';
import type { Store } from './store.ts';

/**
 * For all contestants alike. Buffers that hold every table, and room enough in the log that no checkpoint begins within a
 * run. All else is the server's default, above all fsync and synchronous_commit.
 */
const SETTINGS = { shared_buffers: '1GB', max_wal_size: '16GB' };
const REPORTED = [
  'fsync',
  'synchronous_commit',
  'full_page_writes',
  'shared_buffers',
  'max_wal_size',
  'checkpoint_timeout',
  'autovacuum',
];

/** A private server of the testbed, or the one that its environment variable names. */
export async function openPostgresStore(): Promise<Store> {
  const server = await startPostgres({ settings: SETTINGS });
  try {
    const { postmaster, settings } = await withPostgres(server.adminUrl, async (client) => ({
      postmaster: server.kind === 'binary' ? await postmasterOf(client) : null,
      settings: await readSettings(client),
    }));
    return {
      settings: { ...settings, server: server.kind },
      versions: { postgresql: server.version },
      create: () => server.createDatabase(),
      copy: (location) => copyDatabase(server, location),
      settle: (location) =>
        withPostgres(asAdmin(server, location), async (client) => {
          await client.query('vacuum (analyze)');
          await client.query('checkpoint');
        }),
      drop: (location) => server.dropDatabase(location),
      bytes: (location) =>
        withPostgres(location, async (client) => {
          const { rows } = await client.query<{ bytes: string }>(
            'select pg_database_size(current_database()) as bytes',
          );
          return Number(rows[0]?.bytes);
        }),
      openTransaction,
      cpuUs: async () => (postmaster === null ? null : processTreeCpuUs(postmaster)),
      [Symbol.asyncDispose]: () => server.destroy(),
    };
  } catch (error) {
    await server.destroy();
    throw error;
  }
}

async function readSettings(client: pg.Client): Promise<Record<string, string>> {
  const settings: Record<string, string> = {};
  for (const name of REPORTED) {
    const { rows } = await client.query<{ value: string }>('select current_setting($1) as value', [name]);
    settings[name] = rows[0]?.value ?? 'unknown';
  }
  return settings;
}

/** The parent of a session is the postmaster. In a container the number would mean another process here. */
async function postmasterOf(client: pg.Client): Promise<number | null> {
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
  return rows[0] === undefined ? null : parentOf(rows[0].pid);
}

async function copyDatabase(server: PostgresServer, location: string): Promise<string> {
  const url = new URL(location);
  const name = `surety_${randomBytes(6).toString('hex')}`;
  const [copy, original] = [name, databaseOf(location)].map((each) => pg.escapeIdentifier(each));
  const owner = pg.escapeIdentifier(decodeURIComponent(url.username));
  await withPostgres(server.adminUrl, (client) =>
    client.query(`create database ${copy} template ${original} owner ${owner}`),
  );
  url.pathname = `/${name}`;
  return url.href;
}

/** Nothing of what is deleted from now on can be cleaned away, for any session, until this one ends. */
async function openTransaction(location: string): Promise<AsyncDisposable> {
  const client = new pg.Client({ connectionString: location, connectionTimeoutMillis: 10_000 });
  client.on('error', () => undefined);
  await client.connect();
  await client.query('begin isolation level repeatable read');
  // The snapshot is taken by the first statement.
  await client.query('select 1');
  return { [Symbol.asyncDispose]: () => client.end() };
}

function asAdmin(server: PostgresServer, location: string): string {
  const url = new URL(server.adminUrl);
  url.pathname = new URL(location).pathname;
  return url.href;
}

function databaseOf(location: string): string {
  return decodeURIComponent(new URL(location).pathname.slice(1));
}
