import { access, mkdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runCommand } from './run-command.ts';

/** Programs of a Debian release that is not this machine's, unpacked into a folder with all they need. */
export interface DebianPackages {
  /** Arguments that run a program of the folder (`usr/bin/...`) with the libraries of that release. */
  command(program: string, argv0: string): { readonly command: string; readonly args: readonly string[] };
}

const KEYRING = '/usr/share/keyrings/debian-archive-keyring.gpg';
const LOADERS: Readonly<Record<string, { readonly loader: string; readonly triplet: string }>> = {
  x64: { loader: 'usr/lib64/ld-linux-x86-64.so.2', triplet: 'x86_64-linux-gnu' },
  arm64: { loader: 'usr/lib/ld-linux-aarch64.so.1', triplet: 'aarch64-linux-gnu' },
};

/**
 * Fetches packages of a release with their dependencies and unpacks them, once a machine: some ten seconds and megabytes, without
 * rights of an administrator and without touching the machine's own packages. Debian only, which has the keys.
 */
export async function unpackDebianPackages(
  release: string,
  packages: readonly string[],
): Promise<DebianPackages> {
  const machine = LOADERS[process.arch];
  const hasKeys = await access(KEYRING).then(
    () => true,
    () => false,
  );
  if (machine === undefined || !hasKeys) {
    throw new Error(
      `packages of Debian ${release} can be had on Debian only, on x64 or arm64: install debian-archive-keyring, ` +
        'or run these tests there.',
    );
  }
  const folder = join(tmpdir(), `surety-testbed-debian-${release}-${packages.join('-')}`);
  await unpackOnce(folder, release, packages);
  const root = join(folder, 'root');
  const libraries = join(root, 'usr/lib', machine.triplet);
  return {
    command: (program, argv0) => ({
      command: join(root, machine.loader),
      args: ['--library-path', libraries, '--argv0', argv0, join(root, program)],
    }),
  };
}

async function unpackOnce(folder: string, release: string, packages: readonly string[]): Promise<void> {
  const apt = join(folder, 'apt');
  for (const path of ['etc/apt/preferences.d', 'state/lists/partial', 'cache/archives/partial', 'dpkg'])
    await mkdir(join(apt, path), { recursive: true });
  await writeFile(join(apt, 'dpkg/status'), '');
  await writeFile(
    join(apt, 'etc/apt/sources.list'),
    `deb [signed-by=${KEYRING}] http://deb.debian.org/debian ${release} main\n`,
  );
  const options = [
    `Dir=${apt}`,
    `Dir::Etc=${apt}/etc/apt`,
    'Dir::Etc::parts=-',
    `Dir::State=${apt}/state`,
    `Dir::State::status=${apt}/dpkg/status`,
    `Dir::Cache=${apt}/cache`,
    'Debug::NoLocking=true',
    'APT::Sandbox::User=root',
    'Acquire::Languages=none',
  ];
  const get = `apt-get ${options.map((option) => `-o ${option}`).join(' ')}`;
  const script = [
    'set -e',
    `if [ -e ${folder}/complete ]; then exit 0; fi`,
    `${get} update`,
    `${get} install -y --download-only --no-install-recommends ${packages.join(' ')}`,
    `rm -rf ${folder}/root`,
    // Loaders and libraries are named by links that newer releases no longer have in their packages.
    `mkdir -p ${folder}/root/usr/lib ${folder}/root/usr/lib64 && ln -s usr/lib ${folder}/root/lib && ln -s usr/lib64 ${folder}/root/lib64`,
    `for package in ${apt}/cache/archives/*.deb; do dpkg-deb --fsys-tarfile "$package" | tar -x -C ${folder}/root --keep-directory-symlink; done`,
    `touch ${folder}/complete`,
  ].join('\n');
  const result = await runCommand('flock', [`${folder}.lock`, 'sh', '-c', script], { timeoutMs: 600_000 });
  if (result.code !== 0) {
    throw new Error(
      `packages of Debian ${release} (${packages.join(', ')}) could not be unpacked (exit code ${result.code}):\n${result.output.slice(-2000)}`,
    );
  }
}
