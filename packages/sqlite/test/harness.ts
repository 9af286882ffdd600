import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Harness, HarnessTransaction } from '@surety/conformance';
import { sqlite } from '@surety/sqlite';

/** The suite's way to the SQLite backend: one file in a folder of its own. No variants. */
export function createHarness(variant: string | null): Harness {
  if (variant !== null) throw new Error(`The SQLite backend has no variant '${variant}'.`);
  let folder: string | null = null;
  // The suite may make a backend to read its capabilities before there is a folder; it opens none.
  const file = (): string => join(folder ?? join(tmpdir(), 'surety-sqlite-not-prepared'), 'jobs.db');

  return {
    name: 'sqlite',
    variant,
    serverless: true,
    versions: async () => ({
      '@surety/sqlite': await version(),
      node: process.versions.node,
      sqlite: process.versions['sqlite'] ?? 'unknown',
    }),
    prepare: async () => {
      folder ??= await mkdtemp(join(tmpdir(), 'surety-sqlite-'));
    },
    destroy: async () => {
      if (folder !== null) await rm(folder, { recursive: true, force: true });
      folder = null;
    },
    backend: ({ unreachable = false } = {}) =>
      sqlite(unreachable ? join(tmpdir(), 'surety-no-such-folder', 'jobs.db') : file()),
    child: {
      module: new URL('./programs/connect.ts', import.meta.url).href,
      args: () => ({ file: file() }),
    },
    corruptPayload: async (_queue, id) => {
      const changed = onFile(file(), (db) =>
        db.prepare(`update surety_job set payload = '{"cut off' where id = ?`).run(id),
      );
      if (changed.changes !== 1) throw new Error(`No job ${id}.`);
      return 'written';
    },
    elapse: async (queue, ms) =>
      onFile(file(), (db) => {
        const jobs = `(select seq from surety_scheduled where queue = (select id from surety_queue where name = ?))`;
        db.exec('begin immediate');
        db.prepare(`update surety_job set due = due - ? where seq in ${jobs}`).run(ms, queue);
        db.prepare(`update surety_scheduled set due = due - ? where seq in ${jobs}`).run(ms, queue);
        db.exec('commit');
      }),
    transaction: () => beginOn(file()),
  };
}

function onFile<T>(file: string, work: (db: DatabaseSync) => T): T {
  const db = new DatabaseSync(file, { timeout: 1000 });
  try {
    return work(db);
  } finally {
    db.close();
  }
}

/** A transaction of an application with a connection of its own, as it would write to tables of its own. */
async function beginOn(file: string): Promise<HarnessTransaction> {
  const db = new DatabaseSync(file, { timeout: 0 });
  db.exec('pragma synchronous = full');
  // Waits beside the event loop: the lock may be another transaction's of this very process.
  while (!tryBegin(db)) await sleep(1);
  const end = (how: 'commit' | 'rollback') => async (): Promise<void> => {
    db.exec(how);
    db.close();
  };
  return { tx: db, commit: end('commit'), rollback: end('rollback') };
}

function tryBegin(db: DatabaseSync): boolean {
  try {
    db.exec('begin immediate');
    return true;
  } catch (error) {
    if (error instanceof Error && error.message === 'database is locked') return false;
    throw error;
  }
}

async function version(): Promise<string> {
  const manifest: unknown = JSON.parse(await readFile(new URL('../package.json', import.meta.url), 'utf8'));
  return (manifest as { readonly version: string }).version;
}
