import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Harness, HarnessNetwork, HarnessTransaction } from '@surety/conformance';
import {
  type PgBouncer,
  type PostgresServer,
  startPgBouncer,
  startPostgres,
  startTcpProxy,
} from '@surety/testbed';
import pg from 'pg';
import { type PostgresOptions, postgres } from '../src/index.ts';

const VARIANTS: Readonly<Record<string, PostgresOptions>> = {
  '': {},
  /** Tables in a schema of another name, which has to be quoted. */
  schema: { schema: 'Surety_Jobs' },
  /** Through PgBouncer in transaction mode, five connections for all: no LISTEN, polling alone wakes. */
  pgbouncer: { listen: false },
  /** The newest PostgreSQL that is to be had as a package. */
  '18': {},
};

/** Nobody listens on port 1, and asking needs no rights. */
const NOBODY = 'postgres://nobody@127.0.0.1:1/nothing';

/** Surety on a private PostgreSQL server, with every fault the suite can ask for. */
export function createHarness(variant: string | null): Harness {
  const settings = VARIANTS[variant ?? ''];
  if (settings === undefined) throw new Error(`@surety/postgres has no variant "${variant}"`);
  let server: PostgresServer | null = null;
  let pooler: PgBouncer | null = null;
  const running = (): PostgresServer => {
    if (server === null) throw new Error('prepare() was not called');
    return server;
  };
  /** What the backends are given: the pooler's address where there is one. */
  const address = (): string => pooler?.url ?? server?.url ?? NOBODY;
  return {
    name: 'postgres',
    variant,
    async versions() {
      const own = { server: `PostgreSQL ${running().version}`, client: `pg ${pgVersion()}` };
      return pooler === null ? own : { ...own, pooler: `PgBouncer ${pooler.version}` };
    },
    async prepare() {
      server = await startPostgres(variant === '18' ? { from: 'packaged' } : {});
      if (variant === 'pgbouncer') pooler = await startPgBouncer(server.url);
    },
    async destroy() {
      await pooler?.destroy();
      await server?.destroy();
      pooler = null;
      server = null;
    },
    backend: ({ unreachable = false } = {}) =>
      postgres({ url: unreachable ? NOBODY : address(), ...settings }),
    child: {
      module: new URL('./programs/connect.ts', import.meta.url).href,
      args: () => ({ url: address(), ...settings }),
    },
    server: {
      stop: () => running().stop(),
      async start() {
        await running().start();
        // Through a pooler it is back only once the pooler has noticed.
        await awaitAnswer(address());
      },
      kill: () => running().kill(),
      pause: () => running().pause(),
      resume: () => running().resume(),
      cutSessions: () => cutSessions(running()),
    },
    network: () => openNetwork(address(), settings),
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
    transaction: () => openTransaction(address()),
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

async function awaitAnswer(url: string): Promise<void> {
  const deadline = performance.now() + 30_000;
  for (;;) {
    const error: unknown = await withClient(url, (client) => client.query('select 1')).then(
      () => null,
      (failure: unknown) => failure,
    );
    if (error === null) return;
    if (performance.now() > deadline) throw error;
    await sleep(20);
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

async function openNetwork(address: string, settings: PostgresOptions): Promise<HarnessNetwork> {
  const url = new URL(address);
  const proxy = await startTcpProxy({ host: url.hostname, port: Number(url.port) });
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
