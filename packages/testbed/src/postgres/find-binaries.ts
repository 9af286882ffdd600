import { access, constants, glob, realpath } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { runCommand } from '../machine/run-command.ts';

export interface PostgresBinaries {
  readonly postgres: string;
  readonly initdb: string;
  readonly major: number;
}

/** Where packages put servers that are not on the PATH: Debian, Red Hat, Homebrew on both processors. */
const USUAL_PLACES = [
  '/usr/lib/postgresql/*/bin',
  '/usr/pgsql-*/bin',
  '/opt/homebrew/opt/postgresql@*/bin',
  '/usr/local/opt/postgresql@*/bin',
];

/** The newest server on this machine, on the PATH or in one of the usual places. */
export async function findPostgresBinaries(): Promise<PostgresBinaries | undefined> {
  const folders = new Set((process.env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== ''));
  for await (const folder of glob(USUAL_PLACES)) folders.add(folder);
  const found = new Map<string, PostgresBinaries>();
  for (const folder of folders) {
    const binaries = await binariesIn(folder);
    if (binaries !== undefined) found.set(binaries.postgres, binaries);
  }
  return [...found.values()].sort((a, b) => b.major - a.major)[0];
}

/** The server in a folder; undefined where there is none that runs. */
export async function binariesIn(folder: string): Promise<PostgresBinaries | undefined> {
  try {
    // A link on the PATH leads to the folder that also holds what `initdb` looks for beside itself.
    const postgres = await realpath(join(folder, 'postgres'));
    const initdb = join(dirname(postgres), 'initdb');
    await access(postgres, constants.X_OK);
    await access(initdb, constants.X_OK);
    const version = await runCommand(postgres, ['--version'], { timeoutMs: 10_000 });
    const major = /\(PostgreSQL\) (\d+)/.exec(version.stdout)?.[1];
    return major === undefined ? undefined : { postgres, initdb, major: Number(major) };
  } catch {
    return undefined;
  }
}
