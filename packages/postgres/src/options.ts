import { MAX_DELAY_MS } from '@surety/core/contract';
import { SuretyError } from '@surety/core/errors';
import type pg from 'pg';

/** Options of {@link postgres}. Durations in ms. */
export interface PostgresOptions {
  /**
   * Where the database is, `postgres://user:password@host:port/database`. One host, which leads to the primary, also after
   * a failover: a name, an address or a proxy. Either this or `pool`.
   */
  readonly url?: string;
  /** A `pg.Pool` of the application. It is used and never closed; give it at least two connections. */
  readonly pool?: pg.Pool;
  /** The schema that holds Surety's tables: a plain identifier of at most 50 characters. Default `surety`. */
  readonly schema?: string;
  /** Run missing migrations at `open`. `false`: only check that they were run. Default `true`. */
  readonly migrate?: boolean;
  /** How long records of completed jobs are kept for `lookup`; 0, the default: not at all. At most 366 days. */
  readonly keepCompletedMs?: number;
  /** How often a waiting claim looks by itself, behind the notification. 50 to 60,000; default 500. */
  readonly pollMs?: number;
  /**
   * Wait for notifications on a connection of its own. `false`: polling alone wakes a claim, as is needed behind a pooler
   * in transaction mode; nothing else here depends on a session. Default `true`.
   */
  readonly listen?: boolean;
  /** The most connections of our own pool, beside the one that listens. 1 to 100; default 4. Not with `pool`. */
  readonly poolSize?: number;
  /** How long one connection may take to be made. 100 to 60,000; default 5,000. Not with `pool`. */
  readonly connectTimeoutMs?: number;
}

/** Options with every default filled in. */
export interface ResolvedOptions {
  readonly url: string | null;
  readonly pool: pg.Pool | null;
  readonly schema: string;
  readonly migrate: boolean;
  readonly keepCompletedMs: number;
  readonly pollMs: number;
  readonly listen: boolean;
  readonly poolSize: number;
  readonly connectTimeoutMs: number;
}

const KNOWN: ReadonlySet<string> = new Set([
  'url',
  'pool',
  'schema',
  'migrate',
  'keepCompletedMs',
  'pollMs',
  'listen',
  'poolSize',
  'connectTimeoutMs',
] satisfies (keyof PostgresOptions)[]);

/** 50, so that the name of the channel, which carries it, stays below PostgreSQL's 63 bytes. */
const SCHEMA_NAME = /^(?!pg_)[A-Za-z_][A-Za-z0-9_]{0,49}$/;

/** Checks the options and fills in defaults. Throws OPTIONS_INVALID, never with a password in the message. */
export function resolveOptions(options: PostgresOptions): ResolvedOptions {
  for (const name of Object.keys(options)) {
    if (!KNOWN.has(name)) throw invalid(`The option "${name}" is not known.`);
  }
  const url = options.url ?? null;
  const pool = options.pool ?? null;
  if ((url === null) === (pool === null))
    throw invalid('Exactly one of the options "url" and "pool" is needed.');
  if (url !== null) checkUrl(url);
  if (pool !== null) {
    if (typeof pool.connect !== 'function') throw invalid('The option "pool" is not a pg.Pool.');
    for (const name of ['poolSize', 'connectTimeoutMs'] as const) {
      if (options[name] !== undefined)
        throw invalid(`The option "${name}" belongs to our own pool, not to a given one.`);
    }
  }
  const schema = options.schema ?? 'surety';
  if (typeof schema !== 'string' || !SCHEMA_NAME.test(schema)) {
    throw invalid('The option "schema" is not a plain identifier of at most 50 characters outside of "pg_".');
  }
  return Object.freeze({
    url,
    pool,
    schema,
    migrate: flag('migrate', options.migrate, true),
    keepCompletedMs: whole('keepCompletedMs', options.keepCompletedMs, 0, 0, MAX_DELAY_MS),
    pollMs: whole('pollMs', options.pollMs, 500, 50, 60_000),
    listen: flag('listen', options.listen, true),
    poolSize: whole('poolSize', options.poolSize, 4, 1, 100),
    connectTimeoutMs: whole('connectTimeoutMs', options.connectTimeoutMs, 5000, 100, 60_000),
  });
}

function checkUrl(url: string): void {
  if (typeof url === 'string' && namesSeveralHosts(url)) {
    throw invalid(
      'The option "url" names several hosts; pg connects to one. Name what leads to the primary.',
    );
  }
  const protocol = typeof url === 'string' && URL.canParse(url) ? new URL(url).protocol : null;
  if (protocol !== 'postgres:' && protocol !== 'postgresql:') {
    throw invalid('The option "url" is not a URL that begins with postgres:// or postgresql://.');
  }
}

/** As libpq takes them, in place of the host or as a parameter; pg would take them for one name. */
function namesSeveralHosts(url: string): boolean {
  const authority = /^postgres(?:ql)?:\/\/([^/?#]*)/i.exec(url)?.[1] ?? '';
  const hosts = authority.slice(authority.lastIndexOf('@') + 1);
  return hosts.includes(',') || /[?&]host=[^&#]*(?:,|%2C)/i.test(url);
}

function flag(name: string, value: unknown, fallback: boolean): boolean {
  if (value === undefined) return fallback;
  if (typeof value !== 'boolean') throw invalid(`The option "${name}" is neither true nor false.`);
  return value;
}

function whole(name: string, value: unknown, fallback: number, min: number, max: number): number {
  if (value === undefined) return fallback;
  if (typeof value !== 'number' || !Number.isInteger(value) || value < min || value > max) {
    throw invalid(`The option "${name}" is not a whole number from ${min} to ${max}.`);
  }
  return value;
}

function invalid(what: string): SuretyError {
  return new SuretyError('OPTIONS_INVALID', what, { adapter: 'postgres' });
}
