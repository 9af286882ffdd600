import { dockerAnswers } from '../machine/docker.ts';
import { canInstallByApt, installByApt } from '../machine/install-by-apt.ts';
import { startBinaryServer } from './binary-server.ts';
import { startDockerServer } from './docker-server.ts';
import { useExternalServer } from './external-server.ts';
import { findPostgresBinaries } from './find-binaries.ts';
import { operate } from './operate.ts';
import { packagedBinaries } from './packaged-binaries.ts';
import type { PostgresServer } from './postgres-server.ts';
import type { PrivateServerOptions, RunningServer } from './server-control.ts';

export interface PostgresOptions {
  /** Server settings (`postgresql.conf`), over the defaults below. Not applied to an external server. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Where it shall listen on 127.0.0.1; a free port when left out. Not applied to an external server. */
  readonly port?: number;
  /** `packaged`: the newest PostgreSQL that is to be had as an npm package, whatever else is there. */
  readonly from?: 'packaged';
}

const DEFAULT_SETTINGS = {
  listen_addresses: '127.0.0.1',
  fsync: 'on',
  synchronous_commit: 'on',
  max_connections: '200',
  shared_buffers: '256MB',
  // In the data folder instead of /dev/shm, where a killed server would leave it.
  dynamic_shared_memory_type: 'mmap',
};

/**
 * Starts a PostgreSQL server for tests, with or without Docker. The first of these that is there:
 *
 * 1. the server in `SURETY_TEST_POSTGRES_URL`; its role must be allowed to create databases;
 * 2. binaries on this machine, the newest of the PATH and the usual places;
 * 3. on Debian or Ubuntu as root: the distribution's package, installed now;
 * 4. a Docker engine that answers (image: `SURETY_TEST_POSTGRES_IMAGE`, by default `postgres:17`).
 *
 * A private server ends with this process, however that ends. `destroy` ends it earlier.
 */
export async function startPostgres(options: PostgresOptions = {}): Promise<PostgresServer> {
  const own = { settings: { ...DEFAULT_SETTINGS, ...options.settings }, port: options.port };
  if (options.from === 'packaged') return operate(await startBinaryServer(await packagedBinaries(), own));
  return operate(await startFirstFound(own));
}

async function startFirstFound(options: PrivateServerOptions): Promise<RunningServer> {
  const url = process.env['SURETY_TEST_POSTGRES_URL'];
  if (url !== undefined && url !== '') return useExternalServer(url);

  const found = (await findPostgresBinaries()) ?? (await installBinaries());
  if (found !== undefined) return startBinaryServer(found, options);

  if (await dockerAnswers()) return startDockerServer(options);

  throw new Error(
    'no PostgreSQL server to test with. Any one of these helps: install PostgreSQL on this machine (Debian, Ubuntu: ' +
      '`apt-get install postgresql`; macOS: `brew install postgresql@17`), start a Docker engine, or set ' +
      'SURETY_TEST_POSTGRES_URL to a server whose role may create databases.',
  );
}

async function installBinaries(): ReturnType<typeof findPostgresBinaries> {
  if (!(await canInstallByApt())) return undefined;
  await installByApt({
    packages: ['postgresql'],
    installedWhen: 'ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1',
    // Otherwise the package makes a cluster of its own and starts it, now and with every boot.
    configBeforehand: { '/etc/postgresql-common/createcluster.conf': 'create_main_cluster = false\n' },
  });
  return findPostgresBinaries();
}
