import { access, mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { runCommand } from './run-command.ts';

/** Whether packages can be installed here without asking anybody: Debian or a child of it, as root. */
export async function canInstallByApt(): Promise<boolean> {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return false;
  const release = await readFile('/etc/os-release', 'utf8').catch(() => '');
  return /^ID(_LIKE)?=.*\b(debian|ubuntu)\b/m.test(release);
}

export interface AptRequest {
  readonly packages: readonly string[];
  /** A shell command that succeeds once there is nothing to do: another process may have installed meanwhile. */
  readonly installedWhen: string;
  /** Files that keep a package from starting a service of its own; written only where they do not exist. */
  readonly configBeforehand?: Readonly<Record<string, string>>;
}

/**
 * Installs packages from the distribution. Test processes that want the same at once queue up behind a lock of the
 * kernel's (`flock`), which cannot be left behind by one that died.
 */
export async function installByApt(request: AptRequest): Promise<void> {
  for (const [path, text] of Object.entries(request.configBeforehand ?? {})) {
    if (await exists(path)) continue;
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text);
  }
  const apt = 'apt-get -o DPkg::Lock::Timeout=300 -o Dpkg::Options::=--force-confold';
  const names = request.packages.join(' ');
  const script = [
    'set -e',
    `if ${request.installedWhen}; then exit 0; fi`,
    `${apt} update`,
    `${apt} install -y --no-install-recommends ${names}`,
  ].join('\n');
  // The one thing here that takes long enough for somebody to wonder.
  process.stderr.write(`surety testbed: ${names} not found on this machine, installing with apt-get\n`);
  const result = await runCommand('flock', ['/tmp/surety-testbed-apt.lock', 'sh', '-c', script], {
    timeoutMs: 600_000,
    env: { DEBIAN_FRONTEND: 'noninteractive', UCF_FORCE_CONFFOLD: '1' },
  });
  if (result.code !== 0) {
    throw new Error(
      `apt-get could not install ${names} (exit code ${result.code}):\n${result.output.slice(-2000)}`,
    );
  }
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
