import { access, constants } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { unpackDebianPackages } from '../machine/debian-packages.ts';
import { canInstallByApt, installByApt } from '../machine/install-by-apt.ts';

/** How to start a server: `argv0` is the name it shall know itself by. */
export interface RedisProgram {
  readonly command: string;
  /** Before the server's own arguments. */
  readonly args: readonly string[];
  readonly argv0: string;
}

/** Debian's `redis-tools` holds the whole server under this name; it acts by the name it is called by. */
const SAME_PROGRAM = 'redis-check-rdb';
const USUAL_PLACES = ['/usr/bin', '/usr/local/bin', '/opt/homebrew/bin'];

/** The Redis server of this machine; on Debian and Ubuntu as root it is installed where it is missing. */
export async function findRedisProgram(): Promise<RedisProgram> {
  const found = await find();
  if (found !== null) return found;
  if (await canInstallByApt()) {
    // Not `redis-server`: that one starts a service, now and with every boot.
    await installByApt({ packages: ['redis-tools'], installedWhen: `[ -x /usr/bin/${SAME_PROGRAM} ]` });
    const installed = await find();
    if (installed !== null) return installed;
  }
  throw new Error(
    'no Redis server to test with. Install Redis on this machine (Debian, Ubuntu: `apt-get install redis-tools`; ' +
      'macOS: `brew install redis`).',
  );
}

async function find(): Promise<RedisProgram | null> {
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), ...USUAL_PLACES];
  for (const name of ['redis-server', SAME_PROGRAM]) {
    for (const folder of folders) {
      if (folder === '') continue;
      const command = join(folder, name);
      if (await isExecutable(command)) return { command, args: [], argv0: 'redis-server' };
    }
  }
  return null;
}

function isExecutable(file: string): Promise<boolean> {
  return access(file, constants.X_OK).then(
    () => true,
    () => false,
  );
}

/** Other servers than the machine's own. */
export type OtherRedis = 'redis8' | 'valkey' | 'valkey9';

/** Release of Debian, package, file of the server, and the name by which it acts as a server. */
const OTHERS = {
  redis8: ['trixie', 'redis-tools', 'usr/bin/redis-check-rdb', 'redis-server'],
  valkey: ['trixie', 'valkey-tools', 'usr/bin/valkey-check-rdb', 'valkey-server'],
  valkey9: ['sid', 'valkey-tools', 'usr/bin/valkey-check-rdb', 'valkey-server'],
} as const;

/** A server of a later Debian, beside the machine's own. */
export async function otherRedisProgram(which: OtherRedis): Promise<RedisProgram> {
  const [release, name, file, argv0] = OTHERS[which];
  const { command, args } = (await unpackDebianPackages(release, [name])).command(file, argv0);
  // The loader of that release hands the name on to the program.
  return { command, args, argv0: command };
}
