import { chown, mkdtemp, open, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { mustRun, runCommand } from '../machine/run-command.ts';
import type { ServiceUser } from '../machine/service-user.ts';
import type { PostgresBinaries } from './find-binaries.ts';

/** Everything a private server has on disk, in one temporary folder. */
export interface DataFolder {
  readonly root: string;
  readonly data: string;
  readonly log: string;
  readonly pidFile: string;
}

/** Under the system's temporary folder (`TMPDIR`): where that is in memory, `fsync` costs nothing and proves nothing. */
export async function makeDataFolder(user: ServiceUser | undefined): Promise<DataFolder> {
  // Without links, so that the watchdog can compare it with the working directory of a process.
  const root = await realpath(await mkdtemp(join(tmpdir(), 'surety-postgres-')));
  if (user !== undefined) await chown(root, user.uid, user.gid);
  const data = join(root, 'data');
  return { root, data, log: join(root, 'server.log'), pidFile: join(data, 'postmaster.pid') };
}

export interface InitialData {
  readonly binaries: PostgresBinaries;
  readonly user: ServiceUser | undefined;
  readonly superuserPassword: string;
  readonly settings: Readonly<Record<string, string>>;
}

export async function fillDataFolder(folder: DataFolder, initial: InitialData): Promise<void> {
  const passwordFile = join(folder.root, 'password');
  await writeFile(passwordFile, initial.superuserPassword, { mode: 0o600 });
  if (initial.user !== undefined) await chown(passwordFile, initial.user.uid, initial.user.gid);
  const choices = ['--username=postgres', '--auth=scram-sha-256', `--pwfile=${passwordFile}`];
  // An empty cluster need not survive power loss, what is written to it later does: only initdb goes without fsync.
  const speed = ['--no-sync', '--encoding=UTF8', '--no-locale'];
  await mustRun(initial.binaries.initdb, [`--pgdata=${folder.data}`, ...choices, ...speed], {
    cwd: folder.root,
    user: initial.user,
  });
  await rm(passwordFile);
  await appendSettings(folder, initial.settings);
}

export interface Copy {
  readonly binaries: PostgresBinaries;
  readonly user: ServiceUser | undefined;
  /** Of a superuser. */
  readonly primaryUrl: string;
  readonly settings: Readonly<Record<string, string>>;
}

/** A copy of a running server that follows it once started. */
export async function copyDataFolder(folder: DataFolder, copy: Copy): Promise<void> {
  const program = join(dirname(copy.binaries.postgres), 'pg_basebackup');
  const { username, password, hostname, port } = new URL(copy.primaryUrl);
  const choices = ['--write-recovery-conf', '--wal-method=stream', '--checkpoint=fast', '--no-sync'];
  await mustRun(program, [`--pgdata=${folder.data}`, ...choices], {
    cwd: folder.root,
    user: copy.user,
    env: { PGHOST: hostname, PGPORT: port, PGUSER: username, PGPASSWORD: password },
  });
  await appendSettings(folder, copy.settings);
}

async function appendSettings(folder: DataFolder, settings: Readonly<Record<string, string>>): Promise<void> {
  // In the file and not on the command line, so that a test can still override them with ALTER SYSTEM.
  const lines = Object.entries(settings).map(
    ([name, value]) => `${name} = '${value.replaceAll("'", "''")}'\n`,
  );
  const config = await open(join(folder.data, 'postgresql.conf'), 'a');
  await config.appendFile(`\n${lines.join('')}`);
  await config.close();
}

export async function logTail(folder: DataFolder): Promise<string> {
  const log = await readFile(folder.log, 'utf8').catch(() => '(no log was written)');
  return log.split('\n').slice(-30).join('\n');
}

/** Removes the folder of a server that has ended, and what a killed one leaves outside of it. */
export async function removeDataFolder(folder: DataFolder): Promise<void> {
  const segment = await leftoverSegment(folder);
  if (segment !== undefined) await runCommand('ipcrm', ['-m', segment]);
  await rm(folder.root, { recursive: true, force: true, maxRetries: 3 });
}

/**
 * A server that ended in order has removed its pid file and its System V segment. The seventh line of a pid file left
 * behind is "key id" of the segment, which would otherwise stay until the machine is restarted.
 */
async function leftoverSegment(folder: DataFolder): Promise<string | undefined> {
  const lines = (await readFile(folder.pidFile, 'utf8').catch(() => '')).split('\n');
  return /^\s*\d+\s+(\d+)\s*$/.exec(lines[6] ?? '')?.[1];
}

/**
 * The same as `removeDataFolder` for the watchdog, which also has to end the server. $1 is the folder. The pid in the file
 * counts only while that process works in this data folder: after a kill the number may belong to somebody else.
 */
export const REMOVE_BY_SHELL = `
data="$1/data"; file="$data/postmaster.pid"
ours() {
  [ -n "$pid" ] || return 1
  if [ -d /proc/self ]; then [ "$(readlink "/proc/$pid/cwd")" = "$data" ]
  else ps -o command= -p "$pid" | grep -qF "$data"; fi
}
pid=$(head -n 1 "$file" 2>/dev/null)
if ours; then
  kill -QUIT "$pid"; kill -CONT "$pid"
  tries=0
  while ours && [ $tries -lt 100 ]; do tries=$((tries + 1)); sleep 0.1; done
  if ours; then kill -KILL "$pid"; sleep 1; fi
fi
segment=$(sed -n '7s/.* //p' "$file" 2>/dev/null)
[ -n "$segment" ] && ipcrm -m "$segment"
# An initdb that was under way may still be writing.
rm -rf "$1" || { sleep 3; rm -rf "$1"; }
`;
