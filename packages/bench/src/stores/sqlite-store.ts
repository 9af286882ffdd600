import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Store } from './store.ts';

/** One file a run, in a folder of its own under the system's temporary folder. */
export async function openSqliteStore(): Promise<Store> {
  const root = await mkdtemp(join(tmpdir(), 'surety-bench-'));
  return {
    settings: { folder: tmpdir() },
    versions: { sqlite: process.versions['sqlite'] ?? 'unknown' },
    create: async () => join(await mkdtemp(join(root, 'run-')), 'jobs.db'),
    async settle(location) {
      const database = new DatabaseSync(location);
      database.exec('pragma wal_checkpoint(truncate)');
      database.close();
    },
    drop: (location) => rm(dirname(location), { recursive: true, force: true }),
    cpuUs: async () => null,
    [Symbol.asyncDispose]: () => rm(root, { recursive: true, force: true }),
  };
}
