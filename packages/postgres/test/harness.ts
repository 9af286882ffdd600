import { readFileSync } from 'node:fs';
import type { Harness, HarnessNetwork, HarnessTransaction } from '@surety/conformance';
import { type PostgresServer, startPostgres, startTcpProxy } from '@surety/testbed';
import pg from 'pg';
import { type PostgresOptions, postgres } from '../src/index.ts';

const VARIANTS: Readonly<Record<string, PostgresOptions>> = {
  '': {},
  /** Tables in a schema of another name, which has to be quoted. */
  schema: { schema: 'Surety_Jobs' },
};

/** Nobody listens on port 1, and asking needs no rights. */
const NOBODY = 'postgres://nobody@127.0.0.1:1/nothing';

/** Surety on a private PostgreSQL server, with every fault the suite can ask for. */
export function createHarness(variant: string | null): Harness {
  const settings = VARIANTS[variant ?? ''];
  if (settings === undefined) throw new Error(`@surety/postgres has no variant "${variant}"`);
  let server: PostgresServer | null = null;
  const running = (): PostgresServer => {
    if (server === null) throw new Error('prepare() was not called');
    return server;
  };
  return {
    name: 'postgres',
    variant,
    async versions() {
      return { server: `PostgreSQL ${running().version}`, client: `pg ${pgVersion()}` };
    },
    async prepare() {
      server = await startPostgres();
    },
    async destroy() {
      await server?.destroy();
      server = null;
    },
    backend: ({ unreachable = false } = {}) =>
      postgres({ url: unreachable ? NOBODY : (server?.url ?? NOBODY), ...settings }),
    child: {
      module: new URL('./programs/connect.ts', import.meta.url).href,
      args: () => ({ url: running().url, ...settings }),
    },
    server: {
      stop: () => running().stop(),
      start: () => running().start(),
      kill: () => running().kill(),
      pause: () => running().pause(),
      resume: () => running().resume(),
      cutSessions: () => cutSessions(running()),
    },
    network: () => openNetwork(running(), settings),
    elapse: (queue, ms) =>
      withClient(running().url, async (client) => {
        const table = `${client.escapeIdentifier(settings.schema ?? 'surety')}.job`;
        const back = `update ${table} set due_at = due_at - $2 * interval '1 ms' where queue = $1 and state = 1`;
        await client.query(back, [queue, ms]);
      }),
    corruptPayload: (queue, id) =>
      withClient(running().url, async (client) => {
        const table = `${client.escapeIdentifier(settings.schema ?? 'surety')}.job`;
        const spoil = `update ${table} set payload = '{"cut off' where queue = $1 and id = $2`;
        const refused = await client.query(spoil, [queue, id]).then(
          () => false,
          (error: { code?: string }) => error.code === '22P02',
        );
        return refused ? 'refused' : 'written';
      }),
    transaction: () => openTransaction(running().url),
  };
}

function pgVersion(): string {
  const manifest = new URL('../package.json', import.meta.resolve('pg'));
  return (JSON.parse(readFileSync(manifest, 'utf8')) as { version: string }).version;
}

async function withClient<T>(url: string, use: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return await use(client);
  } finally {
    await client.end().catch(() => undefined);
  }
}

async function cutSessions({ adminUrl }: PostgresServer): Promise<void> {
  await withClient(adminUrl, (admin) =>
    admin.query(
      `select pg_terminate_backend(pid, 5000) from pg_stat_activity
       where application_name = 'surety' and pid <> pg_backend_pid()`,
    ),
  );
}

async function openNetwork(server: PostgresServer, settings: PostgresOptions): Promise<HarnessNetwork> {
  const proxy = await startTcpProxy({ host: server.host, port: server.port });
  const url = new URL(server.url);
  url.hostname = proxy.host;
  url.port = String(proxy.port);
  return {
    backend: postgres({ url: url.href, ...settings }),
    cut: async () => proxy.cut(),
    freeze: async () => proxy.blackhole('existing'),
    dropAnswers: async () => proxy.dropReplies(),
    isolate: async () => proxy.blackhole('all'),
    delay: async (ms) => proxy.delay(ms),
    heal: () => proxy.heal(),
    close: () => proxy.close(),
  };
}

async function openTransaction(url: string): Promise<HarnessTransaction> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  await client.query('begin');
  const end = async (word: string): Promise<void> => {
    await client.query(word);
    await client.end();
  };
  return { tx: client, commit: () => end('commit'), rollback: () => end('rollback') };
}
