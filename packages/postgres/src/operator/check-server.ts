import type { Finding } from '@surety/core/operator';
import { note, ok, orFine, problem } from './findings.ts';
import type { Look } from './look.ts';

interface ServerRow {
  readonly version: string;
  readonly version_num: number;
  readonly encoding: string;
  readonly in_recovery: boolean;
  readonly read_only: string;
  readonly fsync: string;
  readonly full_page_writes: string;
  readonly synchronous_commit: string;
  readonly autovacuum: string;
  readonly track_counts: string;
  readonly statement_timeout_ms: number;
  readonly lock_timeout_ms: number;
  readonly connections: number;
  readonly max_connections: number;
  readonly xid_age: number;
  readonly may_notify: boolean;
}

const OLDEST_NUM = 130_000;
/** Statements of Surety take milliseconds; a limit below this strikes when the server is merely busy. */
const SHORT_TIMEOUT_MS = 2000;
const CONNECTIONS_SHARE = 0.9;
/** The server stops to accept writes at about 2.1 thousand millions; vacuum is urgent from 200 millions on. */
const XID_PROBLEM = 1_000_000_000;

/** Version, settings and limits of the server. */
export async function checkServer({ ask, clientVersion }: Look): Promise<readonly Finding[]> {
  const [row] = await ask('diagnoseServer', []);
  const server = row as unknown as ServerRow;
  return [
    ...kind(server, clientVersion),
    ...durability(server),
    ...vacuum(server),
    ...limits(server),
    ...connections(server),
  ];
}

function kind(server: ServerRow, clientVersion: string): readonly Finding[] {
  const what = `PostgreSQL ${server.version}, encoding ${server.encoding}, client pg ${clientVersion}`;
  return orFine(
    [
      server.version_num >= OLDEST_NUM
        ? null
        : problem('server', `${what}: older than 13`, 'Upgrade the server.'),
      server.encoding === 'UTF8'
        ? null
        : problem('server', what, "Make a database with encoding 'UTF8' for the jobs."),
      !server.in_recovery && server.read_only === 'off'
        ? null
        : problem(
            'server',
            'a replica, or read-only: nothing can be stored',
            'Point the URL at the primary.',
          ),
    ],
    ok('server', what),
  );
}

function durability(server: ServerRow): readonly Finding[] {
  const { fsync, full_page_writes, synchronous_commit } = server;
  const what = `fsync ${fsync}, full_page_writes ${full_page_writes}, synchronous_commit ${synchronous_commit}`;
  return orFine(
    [
      fsync === 'on' && full_page_writes === 'on'
        ? null
        : problem('durability', `${what}: a crash of the machine can damage the database`, 'Turn both on.'),
      synchronous_commit !== 'off'
        ? null
        : problem(
            'durability',
            `${what}: a crash takes back jobs that were accepted`,
            'Set synchronous_commit to on for the database and the role of Surety.',
          ),
    ],
    ok('durability', what),
  );
}

function vacuum({ autovacuum, track_counts, xid_age }: ServerRow): readonly Finding[] {
  const age = `the oldest id is ${xid_age} transactions old`;
  return orFine(
    [
      autovacuum === 'on' && track_counts === 'on'
        ? null
        : problem(
            'autovacuum',
            `autovacuum ${autovacuum}, track_counts ${track_counts}: claims slow down as dead rows pile up`,
            'Turn both on.',
          ),
      xid_age < XID_PROBLEM
        ? null
        : problem(
            'autovacuum',
            age,
            'Find what holds vacuum back (open-transactions), then vacuum the database.',
          ),
    ],
    ok('autovacuum', `on; ${age}`),
  );
}

function limits({ statement_timeout_ms, lock_timeout_ms, may_notify }: ServerRow): readonly Finding[] {
  const short = (ms: number): boolean => ms > 0 && ms < SHORT_TIMEOUT_MS;
  return orFine(
    [
      short(statement_timeout_ms) || short(lock_timeout_ms)
        ? note(
            'limits',
            `statement_timeout ${statement_timeout_ms} ms, lock_timeout ${lock_timeout_ms} ms`,
            'Give the role of Surety longer ones: its calls have limits of their own.',
          )
        : null,
      may_notify
        ? null
        : note(
            'limits',
            'the role may not call pg_notify',
            'Grant it; until then idle workers find jobs by polling.',
          ),
    ],
    ok('limits', 'no timeout of the role is in the way'),
  );
}

function connections({ connections: used, max_connections: max }: ServerRow): readonly Finding[] {
  const what = `${used} of ${max} connections in use`;
  if (used < max * CONNECTIONS_SHARE) return [ok('connections', what)];
  return [
    problem(
      'connections',
      what,
      'Lower the pools of the applications, add a pooler, or raise max_connections.',
    ),
  ];
}
