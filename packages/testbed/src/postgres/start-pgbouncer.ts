import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { access, chmod, chown, constants, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { withDeadline } from '../machine/deadline.ts';
import { freePort } from '../machine/free-port.ts';
import { canInstallByApt, installByApt } from '../machine/install-by-apt.ts';
import { killTree } from '../machine/process-tree.ts';
import { serviceUser } from '../machine/service-user.ts';
import { startWatchdog } from '../machine/watchdog.ts';
import { awaitReady } from './await-ready.ts';

/** A pooler in transaction mode in front of a server. */
export interface PgBouncer extends AsyncDisposable {
  /** The same database and role as the URL it was made for, through the pooler. */
  readonly url: string;
  readonly version: string;
  destroy(): Promise<void>;
}

export interface PgBouncerOptions {
  /** Connections to the server; 5 when left out: few enough that clients share them. */
  readonly poolSize?: number;
}

const PLACES = [
  '/usr/sbin/pgbouncer',
  '/usr/bin/pgbouncer',
  '/usr/local/bin/pgbouncer',
  '/opt/homebrew/bin/pgbouncer',
];

/** Starts a private PgBouncer with `pool_mode = transaction`; installs it on Debian and Ubuntu as root where it is missing. */
export async function startPgBouncer(serverUrl: string, options: PgBouncerOptions = {}): Promise<PgBouncer> {
  const program = await findProgram();
  const target = new URL(serverUrl);
  const user = await serviceUser('postgres', 'nobody');
  const port = await freePort();
  const folder = await mkdtemp(join(tmpdir(), 'surety-pgbouncer-'));
  const watchdog = startWatchdog('kill -9 "$(cat "$1/pid")" 2>/dev/null; rm -rf "$1"', [folder]);
  await writeFile(join(folder, 'users.txt'), `"${target.username}" "${target.password}"\n`);
  await writeFile(join(folder, 'pgbouncer.ini'), settings(target, port, folder, options.poolSize ?? 5));
  if (user !== undefined) await giveTo(folder, user);
  const child = spawn(program, [join(folder, 'pgbouncer.ini')], {
    detached: true,
    stdio: 'ignore',
    cwd: folder,
    ...user,
  });
  child.on('error', () => undefined);
  child.unref();
  const url = new URL(serverUrl);
  url.hostname = '127.0.0.1';
  url.port = String(port);
  const destroy = async (): Promise<void> => {
    await end(child);
    await rm(folder, { recursive: true, force: true });
    watchdog.dismiss();
  };
  try {
    await awaitReady(url.href, () => (hasEnded(child) ? 'the pooler ended' : undefined));
  } catch (error) {
    const log = await readFile(join(folder, 'log'), 'utf8').catch(() => '');
    await destroy();
    throw new Error(`PgBouncer (${program}) did not start on port ${port}:\n${log.slice(-2000)}`, {
      cause: error,
    });
  }
  return { url: url.href, version: await versionOf(folder), destroy, [Symbol.asyncDispose]: destroy };
}

function settings(target: URL, port: number, folder: string, poolSize: number): string {
  return `[databases]
* = host=${target.hostname} port=${target.port}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = scram-sha-256
auth_file = ${join(folder, 'users.txt')}
pool_mode = transaction
default_pool_size = ${poolSize}
max_client_conn = 1000
; A server that was away is asked again at once, not after the default 15 s: tests wait for its return.
server_login_retry = 0.2
logfile = ${join(folder, 'log')}
pidfile = ${join(folder, 'pid')}
`;
}

async function findProgram(): Promise<string> {
  const found = await firstOf(PLACES);
  if (found !== null) return found;
  if (await canInstallByApt()) {
    await installByApt({ packages: ['pgbouncer'], installedWhen: `[ -x ${PLACES[0]} ]` });
    const installed = await firstOf(PLACES);
    if (installed !== null) return installed;
  }
  throw new Error(
    'PgBouncer is not on this machine. Install the package "pgbouncer" and run the tests again.',
  );
}

async function firstOf(places: readonly string[]): Promise<string | null> {
  for (const place of places) {
    const isThere = await access(place, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (isThere) return place;
  }
  return null;
}

async function giveTo(folder: string, user: { readonly uid: number; readonly gid: number }): Promise<void> {
  await chmod(folder, 0o700);
  for (const path of [folder, join(folder, 'users.txt'), join(folder, 'pgbouncer.ini')])
    await chown(path, user.uid, user.gid);
}

async function versionOf(folder: string): Promise<string> {
  const log = await readFile(join(folder, 'log'), 'utf8');
  return /process up: PgBouncer (\S+?),/.exec(log)?.[1] ?? 'unknown';
}

async function end(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || hasEnded(child)) return;
  const ended = once(child, 'exit');
  await killTree(child.pid);
  await withDeadline(ended, 10_000, () => 'PgBouncer did not end after SIGKILL');
}

function hasEnded(child: ChildProcess): boolean {
  return child.pid === undefined || child.exitCode !== null || child.signalCode !== null;
}
