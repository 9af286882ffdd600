import { copyFile, mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Store } from './store.ts';

/** One file a run, in a folder of its own under the system's temporary folder. */
export async function openSqliteStore(): Promise<Store> {
  const root = await mkdtemp(join(tmpdir(), 'surety-bench-'));
  const create = async (): Promise<string> => join(await mkdtemp(join(root, 'run-')), 'jobs.db');
  return {
    settings: { folder: tmpdir() },
    versions: { sqlite: process.versions['sqlite'] ?? 'unknown' },
    create,
    async copy(location) {
      intoOneFile(location);
      const place = await create();
      await copyFile(location, place);
      return place;
    },
    async settle(location) {
      intoOneFile(location);
    },
    drop: (location) => rm(dirname(location), { recursive: true, force: true }),
    async bytes(location) {
      intoOneFile(location);
      return (await stat(location)).size;
    },
    async openTransaction(location) {
      const database = new DatabaseSync(location, { readOnly: true });
      // The look is taken by the first statement.
      database.exec('begin; select count(*) from sqlite_master');
      return { [Symbol.asyncDispose]: async () => database.close() };
    },
    cpuUs: async () => null,
    [Symbol.asyncDispose]: () => rm(root, { recursive: true, force: true }),
  };
}

function intoOneFile(location: string): void {
  const database = new DatabaseSync(location);
  database.exec('pragma wal_checkpoint(truncate)');
  database.close();
}
