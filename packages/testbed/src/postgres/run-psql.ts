import { access, constants, glob } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { canInstallByApt, installByApt } from '../machine/install-by-apt.ts';
import { type CommandResult, runCommand } from '../machine/run-command.ts';

const USUAL_PLACES = ['/usr/lib/postgresql/*/bin', '/opt/homebrew/opt/libpq/bin', '/usr/local/opt/libpq/bin'];

/**
 * Runs psql, the program, on a database: each command on its own as if typed, until one fails. Rows come without head and
 * frame, fields with `|` between them; errors with SQLSTATE, detail and hint. Never rejects for a command that fails.
 */
export async function runPsql(url: string, ...commands: readonly string[]): Promise<CommandResult> {
  const { hostname, port, username, password, pathname } = new URL(url);
  const options = ['-X', '-q', '-A', '-t', '-v', 'ON_ERROR_STOP=1', '-v', 'VERBOSITY=verbose'];
  return runCommand(await findPsql(), [...options, ...commands.flatMap((command) => ['-c', command])], {
    // Not as arguments: the list of processes shows these to everybody.
    env: {
      PGHOST: hostname,
      PGPORT: port || '5432',
      PGUSER: decodeURIComponent(username),
      PGPASSWORD: decodeURIComponent(password),
      PGDATABASE: decodeURIComponent(pathname.slice(1)),
    },
  });
}

let found: Promise<string> | undefined;

function findPsql(): Promise<string> {
  found ??= searchPsql();
  return found;
}

async function searchPsql(): Promise<string> {
  const there = await firstPsql();
  if (there !== undefined) return there;
  if (await canInstallByApt()) {
    await installByApt({ packages: ['postgresql-client'], installedWhen: 'command -v psql >/dev/null 2>&1' });
    const installed = await firstPsql();
    if (installed !== undefined) return installed;
  }
  throw new Error(
    'psql is not on this machine. Install the package "postgresql-client" and run the tests again.',
  );
}

async function firstPsql(): Promise<string | undefined> {
  const folders = (process.env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '');
  for await (const folder of glob(USUAL_PLACES)) folders.push(folder);
  for (const folder of folders) {
    const program = join(folder, 'psql');
    const isThere = await access(program, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (isThere) return program;
  }
  return undefined;
}
