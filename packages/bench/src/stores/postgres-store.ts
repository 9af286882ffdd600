import { type PostgresServer, startPostgres } from '@surety/testbed';
import pg from 'pg';
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
    const { postmaster, settings } = await withAdmin(server, null, async (client) => ({
      postmaster: server.kind === 'binary' ? await postmasterOf(client) : null,
      settings: await readSettings(client),
    }));
    return {
      settings: { ...settings, server: server.kind },
      versions: { postgresql: server.version },
      create: () => server.createDatabase(),
      async settle(location) {
        await withAdmin(server, location, async (client) => {
          await client.query('analyze');
          await client.query('checkpoint');
        });
      },
      drop: (location) => server.dropDatabase(location),
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

/** As the superuser, in the database of `location`, or the maintenance database when null. */
async function withAdmin<T>(
  server: PostgresServer,
  location: string | null,
  use: (client: pg.Client) => Promise<T>,
): Promise<T> {
  const url = new URL(server.adminUrl);
  if (location !== null) url.pathname = new URL(location).pathname;
  const client = new pg.Client({ connectionString: url.href, connectionTimeoutMillis: 10_000 });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return await use(client);
  } finally {
    await client.end();
  }
}
