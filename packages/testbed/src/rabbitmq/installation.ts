import { access, constants, mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { canInstallByApt, installByApt } from '../machine/install-by-apt.ts';
import { runCommand } from '../machine/run-command.ts';
import { type ServiceUser, serviceUser } from '../machine/service-user.ts';
import type { RabbitmqVersion } from './rabbitmq-server.ts';

/** Programs of one version, in this file system or in a folder that holds another release of Debian. */
export interface Installation {
  /** The folder to change the root to; null: this system's own. */
  readonly root: string | null;
  readonly user: ServiceUser | undefined;
}

export const SCRIPTS = '/usr/lib/rabbitmq/bin';
/** Which release of Debian has which version. */
const RELEASES = { '4.0': 'trixie', '4.3': 'sid' } as const;
/** Kept over runs: making one takes minutes. */
const FOLDERS = '/var/tmp';
const MIRROR = process.env['SURETY_TEST_DEBIAN_MIRROR'] ?? 'http://deb.debian.org/debian';

/** Finds a version, or installs it: the distribution's own package, or a later release in a folder of its own. */
export async function findRabbitmq(version: RabbitmqVersion): Promise<Installation> {
  return version === '3.10' ? ownInstallation() : release(RELEASES[version]);
}

async function ownInstallation(): Promise<Installation> {
  const program = `${SCRIPTS}/rabbitmq-server`;
  if (!(await canRun(program)) && (await canInstallByApt())) {
    await installByApt({ packages: ['rabbitmq-server'], installedWhen: `[ -x ${program} ]` });
  }
  if (!(await canRun(program))) {
    throw new Error(
      `RabbitMQ is not on this machine (${program} is missing). Install the package "rabbitmq-server", or run the tests as root on Debian.`,
    );
  }
  return { root: null, user: await serviceUser('rabbitmq', 'nobody') };
}

/** A minimal system of a later release, in a folder. Needs root, Debian's debootstrap and some 400 MB. */
async function release(name: string): Promise<Installation> {
  const root = join(FOLDERS, `surety-testbed-debian-${name}`);
  if (!(await exists(join(root, 'complete')))) await bootstrap(name, root);
  const accounts = (await readFile(join(root, 'etc/passwd'), 'utf8')).split('\n');
  const fields = accounts.map((line) => line.split(':')).find(([account]) => account === 'rabbitmq');
  if (fields === undefined) throw new Error(`the user rabbitmq is missing in ${root}`);
  return { root, user: { uid: Number(fields[2]), gid: Number(fields[3]) } };
}

async function bootstrap(name: string, root: string): Promise<void> {
  if (!(await canInstallByApt()))
    throw new Error(
      `RabbitMQ of Debian ${name} is needed: run the tests as root on Debian, so that debootstrap can fetch it.`,
    );
  await installByApt({
    packages: ['debootstrap'],
    installedWhen: 'command -v debootstrap >/dev/null',
  });
  await mkdir(FOLDERS, { recursive: true });
  process.stderr.write(`surety testbed: fetching Debian ${name} with RabbitMQ into ${root}, once\n`);
  const script = [
    'set -e',
    `if [ -e "${root}/complete" ]; then exit 0; fi`,
    `rm -rf "${root}"`,
    // An older debootstrap does not know a newer release by name; they are all made alike.
    `[ -e /usr/share/debootstrap/scripts/${name} ] || ln -s sid /usr/share/debootstrap/scripts/${name}`,
    `debootstrap --variant=minbase --include=rabbitmq-server ${name} "${root}" ${MIRROR}`,
    // Without a name for this host RabbitMQ 4.3 hangs at its start.
    `grep -q localhost "${root}/etc/hosts" 2>/dev/null || echo '127.0.0.1 localhost' > "${root}/etc/hosts"`,
    `touch "${root}/complete"`,
  ].join('\n');
  const result = await runCommand('flock', [`${root}.lock`, 'sh', '-c', script], { timeoutMs: 1_200_000 });
  if (result.code !== 0)
    throw new Error(
      `debootstrap of ${name} failed (exit code ${result.code}):\n${result.output.slice(-2000)}`,
    );
}

function canRun(program: string): Promise<boolean> {
  return access(program, constants.X_OK).then(
    () => true,
    () => false,
  );
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
