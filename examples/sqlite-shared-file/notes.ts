import { randomUUID } from 'node:crypto';
import { DatabaseSync } from 'node:sqlite';
import { createClient, defineJob } from '@surety/core';
import { sqlite } from '@surety/sqlite';

export const indexNote = defineJob<{ noteId: string }>('note.index', { queue: 'search' });

/** Notes in a file that holds the jobs too. */
export interface Notes extends AsyncDisposable {
  add(body: string): Promise<string>;
}

export async function openNotes(file: string): Promise<Notes> {
  // region: open
  const db = new DatabaseSync(file, { timeout: 5000 });
  db.exec('pragma journal_mode = wal; pragma synchronous = full'); // an accepted job is on disk, so this is asked for
  db.exec('create table if not exists note (id text primary key, body text not null) strict');
  const client = createClient({ backend: sqlite({ file, shared: true }) }); // shared: it may add its tables here
  await client.start();
  // endregion
  const insert = db.prepare('insert into note (id, body) values (?, ?)');
  return {
    async add(body) {
      const id = randomUUID();
      // region: transaction
      db.exec('begin immediate');
      try {
        insert.run(id, body);
        await client.enqueue(indexNote, { noteId: id }, { tx: db });
        db.exec('commit'); // both, or neither
      } catch (error) {
        db.exec('rollback');
        throw error;
      }
      // endregion
      return id;
    },
    async [Symbol.asyncDispose]() {
      await client.close();
      db.close();
    },
  };
}
