import { access, constants } from 'node:fs/promises';
import { findRedisProgram, type OtherRedis, otherRedisProgram, type RedisProgram } from './find-program.ts';
import { operateRedis } from './operate-redis.ts';
import { createRedisProcess } from './redis-process.ts';
import type { RedisServer } from './redis-server.ts';

export interface RedisServerOptions {
  /** Server settings (`redis.conf`), over the defaults below. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Where it shall listen on 127.0.0.1; a free port when left out. */
  readonly port?: number;
  /**
   * Where its data are. `disk` (default): in a folder for temporary files. `memory`: in one that no other program's writes slow down, where the machine has
   * one. Under `everysec` a busy disk makes a server hold its log back and answer all the same, so that a kill loses what it answered: that is
   * the setting's own window, and a test of kills must not meet it by chance.
   */
  readonly dataIn?: 'disk' | 'memory';
  /** Another server than the machine's own: a later Redis or a Valkey, as a later Debian has them. Debian only. */
  readonly from?: OtherRedis;
}

/** As production should have it: every write in a log that is synced once a second, nothing evicted. */
const DEFAULT_SETTINGS = {
  appendonly: 'yes',
  appendfsync: 'everysec',
  save: '',
  'maxmemory-policy': 'noeviction',
};

/**
 * Starts a private Redis server on a free port with data of its own. It ends with this process, however that ends;
 * `destroy` ends it earlier.
 */
export async function startRedis(options: RedisServerOptions = {}): Promise<RedisServer> {
  const { from } = options;
  return startRedisProgram(
    await (from === undefined ? findRedisProgram() : otherRedisProgram(from)),
    options,
  );
}

export async function startRedisProgram(
  program: RedisProgram,
  options: RedisServerOptions,
): Promise<RedisServer> {
  const settings = { ...DEFAULT_SETTINGS, ...options.settings };
  const parent = options.dataIn === 'memory' ? await memoryFolder() : undefined;
  return operateRedis(await createRedisProcess(program, settings, options.port, parent));
}

/** Linux has one that every user may write to. */
async function memoryFolder(): Promise<string | undefined> {
  const folder = '/dev/shm';
  return access(folder, constants.W_OK).then(
    () => folder,
    () => undefined,
  );
}
