import { MAX_DELAY_MS } from '@surety/core/contract';
import { SuretyError } from '@surety/core/errors';
import type { RedisOptions as ClientOptions, Cluster, Redis } from 'ioredis';

/** How many others have to confirm an enqueue before it counts as accepted. */
export interface ConfirmOptions {
  /**
   * The server has synced its log (`WAITAOF`, Redis 7.2 and later, with `appendonly yes`). With `appendfsync everysec` that is up to
   * a second later. Default `false`.
   */
  readonly fsync?: boolean;
  /** So many replicas have it; with `fsync` in their synced log, otherwise in memory (`WAIT`). 0 to 10; default 0. */
  readonly replicas?: number;
  /** How long to wait for it. Past this the outcome is `unknown`, DURABILITY_NOT_REACHED. 10 to 60,000 ms; default 3,000. */
  readonly withinMs?: number;
}

/** Options of {@link redis}. Durations in ms. */
export interface RedisOptions {
  /**
   * Where the server is: a URL (`redis://user:password@host:port/db`, `rediss://` for TLS), options of ioredis (Sentinel and
   * TLS among them), or an array of URLs of nodes of a cluster. Either this or `client`.
   */
  readonly connection?: string | ClientOptions | readonly string[];
  /**
   * A client of the application. It is neither used nor closed: connections are duplicates of it, with the settings that a
   * queue needs (nothing is sent again by itself, nothing waits in memory for a server that is away).
   */
  readonly client?: Redis | Cluster;
  /** Begins the name of every key: `prefix:{queue}:...`. 1 to 64 of `A-Z a-z 0-9 . _ : -`. Default `surety`. */
  readonly prefix?: string;
  /** How long records of completed jobs are kept for `lookup`; 0, the default: not at all. At most 366 days. */
  readonly keepCompletedMs?: number;
  /** The most records of completed jobs that a queue keeps. 1 to 1,000,000; default 10,000. */
  readonly keepCompletedMost?: number;
  /** How often a waiting claim looks by itself, behind the hint that wakes it. 50 to 2,000; default 2,000. */
  readonly pollMs?: number;
  /** How long one connection may take to be made. 100 to 60,000; default 5,000. */
  readonly connectTimeoutMs?: number;
  /**
   * What an accepted job must survive at the least: `open` refuses a server that is configured for less. Left out:
   * `open` states in the capabilities what it finds, and warns where it is nothing.
   */
  readonly durability?: 'memory' | 'process-crash' | 'fsync';
  /** Wait for more than the server's own answer at every enqueue. Not with a cluster. */
  readonly confirm?: ConfirmOptions;
  /** Open also on a server that may evict keys when its memory is full, and lose jobs by it. Default `false`. */
  readonly acceptEviction?: boolean;
}

/** Options with every default filled in. */
export interface ResolvedOptions {
  readonly connection: string | ClientOptions | readonly string[] | null;
  readonly client: Redis | Cluster | null;
  readonly isCluster: boolean;
  readonly prefix: string;
  readonly keepCompletedMs: number;
  readonly keepCompletedMost: number;
  readonly pollMs: number;
  readonly connectTimeoutMs: number;
  readonly durability: 'memory' | 'process-crash' | 'fsync' | null;
  readonly confirm: { readonly fsync: boolean; readonly replicas: number; readonly withinMs: number } | null;
  readonly acceptEviction: boolean;
}

const KNOWN: ReadonlySet<string> = new Set([
  'connection',
  'client',
  'prefix',
  'keepCompletedMs',
  'keepCompletedMost',
  'pollMs',
  'connectTimeoutMs',
  'durability',
  'confirm',
  'acceptEviction',
] satisfies (keyof RedisOptions)[]);

/** No braces: they would decide about the slot of a key in place of the queue's name. */
const PREFIX = /^[A-Za-z0-9._:-]{1,64}$/;

/** Checks the options and fills in defaults. Throws OPTIONS_INVALID, never with a password in the message. */
export function resolveOptions(options: RedisOptions): ResolvedOptions {
  for (const name of Object.keys(options)) {
    if (!KNOWN.has(name)) throw invalid(`The option "${name}" is not known.`);
  }
  const connection = options.connection ?? null;
  const client = options.client ?? null;
  if ((connection === null) === (client === null))
    throw invalid('Exactly one of the options "connection" and "client" is needed.');
  if (connection !== null) checkConnection(connection);
  if (client !== null && typeof client.duplicate !== 'function')
    throw invalid('The option "client" is not a client of ioredis.');
  const isCluster = client === null ? Array.isArray(connection) : client.isCluster;
  const prefix = options.prefix ?? 'surety';
  if (typeof prefix !== 'string' || !PREFIX.test(prefix))
    throw invalid('The option "prefix" is not 1 to 64 of A-Z, a-z, 0-9, ".", "_", ":" and "-".');
  checkKeyPrefix(client, connection);
  const confirm = resolveConfirm(options.confirm);
  if (confirm !== null && isCluster)
    throw invalid('The option "confirm" cannot be had with a cluster: WAIT cannot be sent to one slot.');
  return Object.freeze({
    connection,
    client,
    isCluster,
    prefix,
    keepCompletedMs: whole('keepCompletedMs', options.keepCompletedMs, 0, 0, MAX_DELAY_MS),
    keepCompletedMost: whole('keepCompletedMost', options.keepCompletedMost, 10_000, 1, 1_000_000),
    pollMs: whole('pollMs', options.pollMs, 2000, 50, 2000),
    connectTimeoutMs: whole('connectTimeoutMs', options.connectTimeoutMs, 5000, 100, 60_000),
    durability: level(options.durability),
    confirm,
    acceptEviction: flag('acceptEviction', options.acceptEviction),
  });
}

function checkConnection(connection: NonNullable<RedisOptions['connection']>): void {
  const urls = typeof connection === 'string' ? [connection] : Array.isArray(connection) ? connection : [];
  for (const url of urls as readonly unknown[]) {
    const protocol = typeof url === 'string' && URL.canParse(url) ? new URL(url).protocol : null;
    if (protocol !== 'redis:' && protocol !== 'rediss:') {
      throw invalid('The option "connection" is not a URL that begins with redis:// or rediss://.');
    }
    // The client would take a database that it cannot read for database 0.
    if (!/^(?:\/\d{0,9})?$/.test(new URL(String(url)).pathname))
      throw invalid('What follows the host in the option "connection" is not the number of a database.');
  }
  if (Array.isArray(connection) && connection.length === 0)
    throw invalid('The option "connection" names no node of the cluster.');
  if (typeof connection !== 'string' && typeof connection !== 'object')
    throw invalid('The option "connection" is neither a URL nor options of ioredis.');
}

/** A prefix of the client stands before ours; with `{}` in it, each key would hash by itself and a queue be split over slots. */
function checkKeyPrefix(client: ResolvedOptions['client'], connection: ResolvedOptions['connection']): void {
  const given = client?.options ?? (isClientOptions(connection) ? connection : {});
  const { keyPrefix } = given as { readonly keyPrefix?: unknown };
  if (typeof keyPrefix === 'string' && /[{}]/.test(keyPrefix))
    throw invalid(
      'The "keyPrefix" of the client holds a brace: in a cluster it would split the keys of a queue.',
    );
}

function isClientOptions(connection: ResolvedOptions['connection']): connection is ClientOptions {
  return typeof connection === 'object' && connection !== null && !Array.isArray(connection);
}

function resolveConfirm(given: ConfirmOptions | undefined): ResolvedOptions['confirm'] {
  if (given === undefined) return null;
  if (typeof given !== 'object' || given === null) throw invalid('The option "confirm" is not an object.');
  for (const name of Object.keys(given)) {
    if (!['fsync', 'replicas', 'withinMs'].includes(name))
      throw invalid(`The option "confirm.${name}" is not known.`);
  }
  const fsync = flag('confirm.fsync', given.fsync);
  const replicas = whole('confirm.replicas', given.replicas, 0, 0, 10);
  const withinMs = whole('confirm.withinMs', given.withinMs, 3000, 10, 60_000);
  if (!fsync && replicas === 0)
    throw invalid('The option "confirm" asks for nothing: set "fsync" or "replicas".');
  return { fsync, replicas, withinMs };
}

function level(value: unknown): ResolvedOptions['durability'] {
  if (value === undefined) return null;
  if (value === 'memory' || value === 'process-crash' || value === 'fsync') return value;
  throw invalid('The option "durability" is none of "memory", "process-crash" and "fsync".');
}

function flag(name: string, value: unknown): boolean {
  if (value === undefined) return false;
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
  return new SuretyError('OPTIONS_INVALID', what, { adapter: 'redis' });
}
