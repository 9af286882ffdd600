import type { Capabilities, Notice } from '@surety/core/contract';
import { SuretyError } from '@surety/core/errors';
import type { Client } from '../client.ts';
import type { Connection } from '../connection.ts';
import { failure } from '../context.ts';
import type { Call } from '../deadline.ts';
import type { ResolvedOptions } from '../options.ts';
import { checkDatabase } from './check-database.ts';
import { allowed, isBefore, OLDEST, parseConfig, parseInfo } from './read-server.ts';

type Level = 'memory' | 'process-crash' | 'fsync';
const LEVELS: readonly Level[] = ['memory', 'process-crash', 'fsync'];

/** The first that knows WAITAOF. */
const WAITAOF_SINCE = [7, 2] as const;

/** Looks at every server behind the connection and refuses what could not keep the promise. Answers what it survives. */
export async function examineServers(
  connection: Connection,
  options: ResolvedOptions,
  call: Call,
  notify: (notice: Notice) => void,
): Promise<Capabilities['durability']> {
  let weakest: Level = 'fsync';
  for (const client of await connection.primaries(call)) {
    const level = await examine(client, options, call, notify);
    if (LEVELS.indexOf(level) < LEVELS.indexOf(weakest)) weakest = level;
  }
  const { durability, confirm } = options;
  if (durability !== null && LEVELS.indexOf(weakest) < LEVELS.indexOf(durability)) {
    throw unsuitable(
      `The server is configured so that jobs survive "${weakest}" at the most; "${durability}" was asked for.`,
      'Set "appendonly yes", and "appendfsync always" for "fsync".',
    );
  }
  if (weakest === 'memory' && durability === null) {
    notify({
      kind: 'warning',
      code: 'STORE_NOT_DURABLE',
      message:
        'The server keeps no log (appendonly is off): when it ends, the jobs since its last snapshot are lost.',
    });
  }
  if (confirm === null) return weakest;
  return confirm.replicas > 0 ? { replicated: confirm.replicas } : 'fsync';
}

async function examine(
  client: Client,
  options: ResolvedOptions,
  call: Call,
  notify: (notice: Notice) => void,
): Promise<Level> {
  const warn = (what: string): void => notify({ kind: 'warning', code: 'STORE_NOT_EXAMINED', message: what });
  await checkDatabase(client, call);
  const text = await allowed(client.info(), call);
  if (text === null) {
    warn('The server refuses INFO to this user: version, role, eviction and persistence were not examined.');
    return options.durability ?? 'process-crash';
  }
  const info = parseInfo(text);
  checkVersion(info, options);
  if (info.get('role') === 'slave') {
    throw failure('STORE_READ_ONLY', 'The server is a replica, which refuses to be written.', 'open');
  }
  if (info.get('cluster_enabled') === '1' && !options.isCluster) {
    throw unsuitable(
      'The server belongs to a cluster.',
      'Name its nodes as an array, or give a client of the cluster.',
    );
  }
  const config = parseConfig(await allowed(client.call('CONFIG', 'GET', 'maxmemory-policy'), call));
  const policy = config.get('maxmemory-policy') ?? info.get('maxmemory_policy');
  if (policy === undefined) warn('The server does not tell whether it evicts keys when its memory is full.');
  else if (policy !== 'noeviction' && !options.acceptEviction) {
    throw unsuitable(
      `The server may evict keys when its memory is full (maxmemory-policy ${policy}), and jobs with them.`,
      'Set "maxmemory-policy noeviction", or accept the loss by the option "acceptEviction".',
    );
  }
  return levelOf(client, info, options, call);
}

async function levelOf(
  client: Client,
  info: ReadonlyMap<string, string>,
  options: ResolvedOptions,
  call: Call,
): Promise<Level> {
  if (info.get('aof_enabled') !== '1') {
    if (options.confirm?.fsync === true)
      throw unsuitable(
        'WAITAOF needs a log, and the server keeps none.',
        'Set "appendonly yes", or leave "confirm.fsync" out.',
      );
    return 'memory';
  }
  const config = parseConfig(await allowed(client.call('CONFIG', 'GET', 'appendfsync'), call));
  // Where the setting may not be read, the weaker one is stated.
  return config.get('appendfsync') === 'always' ? 'fsync' : 'process-crash';
}

function checkVersion(info: ReadonlyMap<string, string>, options: ResolvedOptions): void {
  const version = info.get('redis_version') ?? '';
  if (isBefore(version, OLDEST)) {
    throw unsuitable(`The server is Redis ${version}.`, 'Use Redis 7.0 or later, or Valkey.');
  }
  if (options.confirm?.fsync === true && isBefore(version, WAITAOF_SINCE)) {
    throw unsuitable(
      `The server is Redis ${version}, which does not know WAITAOF.`,
      'Use 7.2 or later, or leave "confirm.fsync" out.',
    );
  }
}

function unsuitable(what: string, remedy: string): SuretyError {
  return new SuretyError('STORE_UNSUITABLE', what, { adapter: 'redis', operation: 'open', remedy });
}
