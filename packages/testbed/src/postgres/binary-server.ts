import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { open } from 'node:fs/promises';
import { withDeadline } from '../machine/deadline.ts';
import { freePort } from '../machine/free-port.ts';
import { freezeTree, killTree, signal, thawTree } from '../machine/process-tree.ts';
import { type ServiceUser, serviceUser } from '../machine/service-user.ts';
import { startWatchdog } from '../machine/watchdog.ts';
import { awaitReady } from './await-ready.ts';
import {
  copyDataFolder,
  type DataFolder,
  fillDataFolder,
  logTail,
  makeDataFolder,
  REMOVE_BY_SHELL,
  removeDataFolder,
} from './data-folder.ts';
import { createApplicationRole, loopbackUrls, serverVersion, type Urls } from './databases.ts';
import type { PostgresBinaries } from './find-binaries.ts';
import type { PrivateServerOptions, RunningServer, ServerControl } from './server-control.ts';

/** A private cluster from binaries on this machine: own port, own folder, own socket, removed with this process. */
export async function startBinaryServer(
  binaries: PostgresBinaries,
  options: PrivateServerOptions,
): Promise<RunningServer> {
  const port = options.port ?? (await freePort());
  const urls = loopbackUrls(port);
  const superuserPassword = new URL(urls.adminUrl).password;
  return runBinaries(binaries, port, urls, {
    fill: (folder, user, place) =>
      fillDataFolder(folder, {
        binaries,
        user,
        superuserPassword,
        settings: { ...options.settings, ...place },
      }),
    afterStart: () => createApplicationRole(urls),
  });
}

/** A second cluster that follows the first: same roles, databases and passwords, own port. */
export async function startBinaryStandby(binaries: PostgresBinaries, primary: Urls): Promise<RunningServer> {
  const port = await freePort();
  const urls = { url: withPort(primary.url, port), adminUrl: withPort(primary.adminUrl, port) };
  return runBinaries(binaries, port, urls, {
    fill: (folder, user, place) =>
      copyDataFolder(folder, { binaries, user, primaryUrl: primary.adminUrl, settings: place }),
    afterStart: () => Promise.resolve(),
  });
}

/** How a cluster gets its files, and what is done once it answers. */
interface Making {
  fill(folder: DataFolder, user: ServiceUser | undefined, place: Record<string, string>): Promise<void>;
  afterStart(): Promise<void>;
}

async function runBinaries(
  binaries: PostgresBinaries,
  port: number,
  urls: Urls,
  making: Making,
): Promise<RunningServer> {
  const user = await serviceUser('postgres', 'nobody');
  const folder = await makeDataFolder(user);
  const watchdog = startWatchdog(REMOVE_BY_SHELL, [folder.root]);
  let postmaster: ChildProcess | undefined;

  const control: ServerControl = {
    kind: 'binary',
    can: { restart: true, kill: true, pause: true },
    async start() {
      const log = await open(folder.log, 'a');
      const child = spawn(binaries.postgres, ['-D', folder.data], {
        // Its own session: Ctrl-C reaches the tests, which then end the server, and not both at once.
        detached: true,
        stdio: ['ignore', log.fd, log.fd],
        cwd: folder.root,
        ...user,
      });
      child.on('error', () => undefined);
      child.unref();
      await log.close();
      postmaster = child;
      try {
        await awaitReady(urls.adminUrl, () => (hasEnded(child) ? 'the server ended' : undefined));
      } catch (error) {
        if (!hasEnded(child) && child.pid !== undefined) await killTree(child.pid);
        const tail = await logTail(folder);
        throw new Error(`PostgreSQL (${binaries.postgres}) did not start on port ${port}:\n${tail}`, {
          cause: error,
        });
      }
    },
    async stop() {
      if (postmaster?.pid === undefined || hasEnded(postmaster)) return;
      const ended = once(postmaster, 'exit');
      signal(postmaster.pid, 'SIGINT');
      await withDeadline(ended, 30_000, () => 'PostgreSQL did not stop after SIGINT');
    },
    async kill() {
      if (postmaster?.pid === undefined || hasEnded(postmaster)) return;
      const ended = once(postmaster, 'exit');
      await killTree(postmaster.pid);
      // The deadline's timer also keeps this process alive, which the unreferenced server does not.
      await withDeadline(ended, 10_000, () => 'PostgreSQL did not end after SIGKILL');
    },
    async pause() {
      if (postmaster?.pid !== undefined) await freezeTree(postmaster.pid);
    },
    async resume() {
      if (postmaster?.pid !== undefined) await thawTree(postmaster.pid);
    },
    async remove() {
      await control.kill();
      await removeDataFolder(folder);
      watchdog.dismiss();
    },
  };

  // The socket goes into the folder too, since Debian's default place for it belongs to another user.
  const place = { port: String(port), unix_socket_directories: folder.root };
  try {
    await making.fill(folder, user, place);
    await control.start();
    await making.afterStart();
    return { control, urls, version: await serverVersion(urls.adminUrl) };
  } catch (error) {
    await control.remove();
    throw error;
  }
}

function withPort(url: string, port: number): string {
  const changed = new URL(url);
  changed.port = String(port);
  return changed.href;
}

function hasEnded(child: ChildProcess): boolean {
  return child.pid === undefined || child.exitCode !== null || child.signalCode !== null;
}
