import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type PublishedPackage, repositoryRoot } from './published-packages.ts';
import { deleteStaleOutputs } from './stale-outputs.ts';

/** Packing reads local files only; a minute is far more than the slowest machine needs, and ends a hanging npm. */
const PACK_LIMIT_MS = 60_000;

export interface PackedPackage extends PublishedPackage {
  /** Absolute path of the .tgz. */
  readonly tarball: string;
}

/** Packs the built packages as `npm publish` would, all in one call of npm. Runs no script of theirs. */
export function packPackages(packages: readonly PublishedPackage[], destination: string): PackedPackage[] {
  mkdirSync(destination, { recursive: true });
  for (const { folder } of packages) deleteStaleOutputs(join(repositoryRoot, folder));
  const output = execFileSync(
    'npm',
    [
      'pack',
      '--json',
      '--ignore-scripts',
      '--loglevel=error',
      `--pack-destination=${destination}`,
      ...packages.map(({ manifest }) => `--workspace=${manifest.name}`),
    ],
    {
      cwd: repositoryRoot,
      encoding: 'utf8',
      timeout: PACK_LIMIT_MS,
      stdio: ['ignore', 'pipe', 'inherit'],
      maxBuffer: 64 * 1024 * 1024,
    },
  );
  const packed = JSON.parse(output) as readonly { readonly name: string; readonly filename: string }[];
  return packages.map((one) => {
    const entry = packed.find(({ name }) => name === one.manifest.name);
    if (entry === undefined) throw new Error(`npm packed no ${one.manifest.name}.`);
    return { ...one, tarball: join(destination, entry.filename) };
  });
}
