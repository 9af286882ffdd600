import { randomBytes } from 'node:crypto';
import { docker } from '../machine/docker.ts';
import { freePort } from '../machine/free-port.ts';
import { startWatchdog } from '../machine/watchdog.ts';
import { awaitReady } from './await-ready.ts';
import { createApplicationRole, loopbackUrls, serverVersion } from './databases.ts';
import type { PrivateServerOptions, RunningServer, ServerControl } from './server-control.ts';

const DEFAULT_IMAGE = 'postgres:17';

/** A private server in a container with a port published on loopback only, removed with this process. */
export async function startDockerServer(options: PrivateServerOptions): Promise<RunningServer> {
  const port = options.port ?? (await freePort());
  const name = `surety-postgres-${randomBytes(6).toString('hex')}`;
  const watchdog = startWatchdog('docker rm --force --volumes "$1"', [name]);
  const urls = loopbackUrls(port);

  const ready = async (): Promise<void> => {
    try {
      await awaitReady(urls.adminUrl);
    } catch (error) {
      const tail = await docker('logs', '--tail', '30', name).catch(() => '');
      throw new Error(`PostgreSQL in container ${name} did not start:\n${tail}`, { cause: error });
    }
  };
  const control: ServerControl = {
    kind: 'docker',
    can: { restart: true, kill: true, pause: true },
    async start() {
      await docker('start', name);
      await ready();
    },
    async stop() {
      // The image's stop signal is SIGINT, PostgreSQL's fast mode.
      await docker('stop', '-t', '30', name);
    },
    async kill() {
      // With the first process of a container its kernel namespace ends, and with that every other process in it.
      await docker('kill', '--signal', 'KILL', name);
    },
    async pause() {
      await docker('pause', name);
    },
    async resume() {
      await docker('unpause', name);
    },
    async remove() {
      await docker('rm', '--force', '--volumes', name);
      watchdog.dismiss();
    },
  };

  // Inside, the server must listen on the container's own address; what is published is loopback.
  const settings = { ...options.settings, listen_addresses: '*' };
  const image = process.env['SURETY_TEST_POSTGRES_IMAGE'] ?? DEFAULT_IMAGE;
  try {
    const container = [
      '--detach',
      '--name',
      name,
      '--shm-size',
      '512m',
      '--publish',
      `127.0.0.1:${port}:5432`,
    ];
    const password = ['--env', `POSTGRES_PASSWORD=${new URL(urls.adminUrl).password}`];
    const serverArgs = Object.entries(settings).flatMap(([key, value]) => ['-c', `${key}=${value}`]);
    await docker('run', ...container, ...password, image, ...serverArgs);
    await ready();
    await createApplicationRole(urls);
    return { control, urls, version: await serverVersion(urls.adminUrl) };
  } catch (error) {
    await control.remove().catch(() => undefined);
    throw error;
  }
}
