import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { readManifest, repositoryRoot } from './published-packages.ts';
import { runProgram } from './run-program.ts';

const INSTALL_LIMIT_MS = 300_000;
const DEFINITION = join(import.meta.dirname, '../toolchain');

export interface Compiler {
  readonly version: string;
  /** Script to run with Node. */
  readonly tsc: string;
}

export interface Node {
  readonly version: string;
  readonly executable: string;
}

export interface Toolchain {
  /** Oldest first. */
  readonly compilers: readonly Compiler[];
  /** The oldest that the packages support, and the one this repository is developed on. */
  readonly nodes: readonly Node[];
}

/**
 * Installs the compilers and the oldest supported Node, once per lock file. They stay out of the workspaces: their commands
 * `tsc` and `node` would shadow those of the repository.
 */
export async function prepareToolchain(): Promise<Toolchain> {
  const lock = readFileSync(join(DEFINITION, 'package-lock.json'));
  const key = createHash('sha256').update(lock).digest('hex').slice(0, 16);
  const folder = join(repositoryRoot, 'node_modules/.cache', `surety-toolchain-${key}`);
  if (!existsSync(folder)) await install(folder);
  const { dependencies } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
    readonly dependencies: Readonly<Record<string, string>>;
  };
  const compilers = Object.entries(dependencies)
    .map(([alias, wanted]) => ({
      version: wanted.slice(wanted.lastIndexOf('@') + 1),
      tsc: join(folder, 'node_modules', alias, 'bin/tsc'),
    }))
    .sort((one, other) => one.version.localeCompare(other.version, 'en', { numeric: true }));
  return { compilers, nodes: [oldestNode(folder), ownNode()] };
}

async function install(folder: string): Promise<void> {
  const unfinished = `${folder}.${process.pid}`;
  mkdirSync(unfinished, { recursive: true });
  for (const file of ['package.json', 'package-lock.json'])
    cpSync(join(DEFINITION, file), join(unfinished, file));
  const { ok, output } = await runProgram('npm', ['ci', '--prefer-offline', '--no-audit', '--no-fund'], {
    cwd: unfinished,
    limitMs: INSTALL_LIMIT_MS,
  });
  if (!ok) {
    rmSync(unfinished, { recursive: true, force: true });
    throw new Error(`The compilers could not be installed.\n${output}`);
  }
  renameSync(unfinished, folder);
}

function oldestNode(folder: string): Node {
  const name = `node-${process.platform}-${process.arch}`;
  const at = join(folder, 'node_modules', name);
  if (!existsSync(at))
    throw new Error(
      `packages/consumer-check/toolchain/package.json has no ${name}: add it, where npm has one.`,
    );
  return { version: readManifest(at).version.replace(/^v/, ''), executable: join(at, 'bin/node') };
}

function ownNode(): Node {
  return { version: process.versions.node, executable: process.execPath };
}
