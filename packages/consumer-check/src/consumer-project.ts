import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { PackedPackage } from './pack.ts';
import { repositoryRoot } from './published-packages.ts';
import { runProgram } from './run-program.ts';

const INSTALL_LIMIT_MS = 300_000;

/** The two ways in which users let TypeScript find modules. */
export const RESOLUTIONS = {
  nodenext: { module: 'nodenext', moduleResolution: 'nodenext' },
  bundler: { module: 'esnext', moduleResolution: 'bundler' },
} as const;

export type Resolution = keyof typeof RESOLUTIONS;

/** Writes the programs of a user into an empty folder and installs the tarballs there with one npm command. */
export async function createConsumer(
  folder: string,
  packed: readonly PackedPackage[],
  versions: 'locked' | 'latest',
): Promise<void> {
  mkdirSync(join(folder, 'src'), { recursive: true });
  const locked = lockedVersions();
  const manifest = {
    name: 'consumer',
    private: true,
    type: 'module',
    ...(versions === 'locked' ? { overrides: locked } : {}),
  };
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest));
  for (const resolution of Object.keys(RESOLUTIONS) as Resolution[])
    writeFileSync(join(folder, `tsconfig.${resolution}.json`), JSON.stringify(compilerSettings(resolution)));
  cpSync(join(repositoryRoot, 'examples/quick-start/main.ts'), join(folder, 'src/quick-start.ts'));
  cpSync(join(import.meta.dirname, '../consumer'), join(folder, 'src'), { recursive: true });
  writeFileSync(join(folder, 'src/entry-points.ts'), entryPointsProgram(packed));
  await install(folder, [
    ...packed.map(({ tarball }) => tarball),
    `@types/node@${locked['@types/node'] ?? 'latest'}`,
  ]);
}

async function install(folder: string, wanted: readonly string[]): Promise<void> {
  const { ok, output } = await runProgram(
    'npm',
    ['install', '--prefer-offline', '--no-audit', '--no-fund', '--strict-peer-deps', ...wanted],
    { cwd: folder, limitMs: INSTALL_LIMIT_MS },
  );
  if (!ok) throw new Error(`The tarballs could not be installed.\n${output}`);
}

/**
 * The versions that this repository has, so that the release of somebody else's package cannot fail a gate. `latest` asks for
 * the newest instead, as a user gets them. What the lock file holds twice is left to npm.
 */
function lockedVersions(): Record<string, string> {
  const lock = JSON.parse(readFileSync(join(repositoryRoot, 'package-lock.json'), 'utf8')) as {
    readonly packages: Readonly<
      Record<string, { readonly version?: string; readonly link?: boolean; readonly name?: string }>
    >;
  };
  const versions = new Map<string, Set<string>>();
  for (const [path, { version, link, name: alias }] of Object.entries(lock.packages)) {
    const name = /.*node_modules\/(.+)$/.exec(path)?.[1];
    if (name === undefined || version === undefined || link === true || alias !== undefined) continue;
    versions.set(name, (versions.get(name) ?? new Set()).add(version));
  }
  return Object.fromEntries(
    [...versions].flatMap(([name, [version, second]]) =>
      version === undefined || second !== undefined ? [] : [[name, version]],
    ),
  );
}

function compilerSettings(resolution: Resolution): object {
  return {
    compilerOptions: {
      ...RESOLUTIONS[resolution],
      target: 'es2022',
      lib: ['es2022'],
      types: ['node'],
      strict: true,
      exactOptionalPropertyTypes: true,
      skipLibCheck: false,
      rootDir: 'src',
      outDir: 'out',
    },
    include: ['src'],
  };
}

/** Loads every entry point of every package, so that none is published that cannot be compiled or imported. */
function entryPointsProgram(packed: readonly PackedPackage[]): string {
  const names = packed.flatMap(({ manifest }) =>
    Object.keys(manifest.exports ?? {})
      .filter((subpath) => subpath !== './package.json')
      .map((subpath) => manifest.name + subpath.slice(1)),
  );
  const imports = names.map((name, index) => `import * as entry${index} from '${name}';\n`);
  const entries = names.map((_, index) => `entry${index}`);
  return `${imports.join('')}console.log([${entries.join(', ')}].length, 'entry points loaded');\n`;
}
