import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chown, mkdtemp, open, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { withDeadline } from '../machine/deadline.ts';
import { freePort } from '../machine/free-port.ts';
import { killTree, signal } from '../machine/process-tree.ts';
import { serviceUser } from '../machine/service-user.ts';
import { startWatchdog } from '../machine/watchdog.ts';
import { awaitRedis, identify } from './ask-server.ts';
import type { RedisProgram } from './find-program.ts';
import type { RedisAccess } from './redis-server.ts';

/** One server process and its folder. `operateRedis` puts order and state on top. */
export interface RedisProcess {
  readonly access: RedisAccess;
  start(): Promise<void>;
  stop(): Promise<void>;
  kill(): Promise<void>;
  pause(): void;
  resume(): void;
  remove(): Promise<void>;
}

/** $1 is the folder. The pid counts only while that process works in it: after a kill it may belong to somebody else. */
const REMOVE_BY_SHELL = `
pid=$(cat "$1/pid" 2>/dev/null)
if [ -n "$pid" ]; then
  if [ -d /proc/self ]; then [ "$(readlink "/proc/$pid/cwd")" = "$1" ] && kill -9 "$pid"
  else ps -o command= -p "$pid" | grep -qF "$1" && kill -9 "$pid"; fi
fi
rm -rf "$1" || { sleep 1; rm -rf "$1"; }
`;

/** Starts a server and waits until it answers. */
export async function createRedisProcess(
  program: RedisProgram,
  settings: Readonly<Record<string, string>>,
  givenPort: number | undefined,
  parent: string = tmpdir(),
): Promise<RedisProcess> {
  const user = await serviceUser('redis', 'nobody');
  const port = givenPort ?? (await freePort());
  // Without links, so that the watchdog can compare it with the working directory of a process.
  const folder = await realpath(await mkdtemp(join(parent, 'surety-redis-')));
  const watchdog = startWatchdog(REMOVE_BY_SHELL, [folder]);
  const configFile = join(folder, 'redis.conf');
  const logFile = join(folder, 'server.log');
  const url = `redis://127.0.0.1:${port}`;
  await writeFile(configFile, configText({ ...settings, port: String(port), dir: folder }));
  if (user !== undefined) {
    await chown(folder, user.uid, user.gid);
    await chown(configFile, user.uid, user.gid);
  }
  let server: ChildProcess | undefined;
  const pid = (): number | undefined => (server === undefined || hasEnded(server) ? undefined : server.pid);

  async function start(): Promise<void> {
    const log = await open(logFile, 'a');
    const child = spawn(program.command, [...program.args, configFile], {
      // Its own session: Ctrl-C reaches the tests, which then end the server, and not both at once.
      detached: true,
      stdio: ['ignore', log.fd, log.fd],
      cwd: folder,
      argv0: program.argv0,
      ...user,
    });
    child.on('error', () => undefined);
    child.unref();
    await log.close();
    server = child;
    if (child.pid !== undefined) await writeFile(join(folder, 'pid'), String(child.pid));
    try {
      await awaitRedis(url, () => (hasEnded(child) ? 'the server ended' : undefined));
    } catch (error) {
      await kill();
      const text = await readFile(logFile, 'utf8').catch(() => '(no log was written)');
      throw new Error(`Redis (${program.command}) did not start on port ${port}:\n${text.slice(-2000)}`, {
        cause: error,
      });
    }
  }

  async function kill(): Promise<void> {
    const running = pid();
    if (server === undefined || running === undefined) return;
    const ended = once(server, 'exit');
    await killTree(running);
    // The deadline's timer also keeps this process alive, which the unreferenced server does not.
    await withDeadline(ended, 10_000, () => 'Redis did not end after SIGKILL');
  }

  async function remove(): Promise<void> {
    await kill();
    await rm(folder, { recursive: true, force: true, maxRetries: 3 });
    watchdog.dismiss();
  }

  try {
    await start();
    return {
      access: { url, host: '127.0.0.1', port, ...(await identify(url)) },
      start,
      kill,
      remove,
      async stop() {
        const running = pid();
        if (server === undefined || running === undefined) return;
        const ended = once(server, 'exit');
        signal(running, 'SIGTERM');
        await withDeadline(ended, 30_000, () => 'Redis did not stop after SIGTERM');
      },
      pause() {
        const running = pid();
        if (running !== undefined) signal(running, 'SIGSTOP');
      },
      resume() {
        const running = pid();
        if (running !== undefined) signal(running, 'SIGCONT');
      },
    };
  } catch (error) {
    await remove();
    throw error;
  }
}

function configText(settings: Readonly<Record<string, string>>): string {
  const all = { bind: '127.0.0.1', daemonize: 'no', ...settings };
  return (
    Object.entries(all)
      // An empty value has to be seen (`save ""`).
      .map(([name, value]) => `${name} ${value === '' ? '""' : value}\n`)
      .join('')
  );
}

function hasEnded(child: ChildProcess): boolean {
  return child.pid === undefined || child.exitCode !== null || child.signalCode !== null;
}
