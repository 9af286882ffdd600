import { DatabaseSync } from 'node:sqlite';
import type { Observer } from './observer.ts';

/** One row of `table` is one job. */
export async function observeSqliteTable(file: string, table: string): Promise<Observer> {
  const database = new DatabaseSync(file, { readOnly: true });
  database.exec('pragma busy_timeout = 10000');
  const first = database.prepare(`select 1 from ${table} limit 1`);
  const all = database.prepare(`select count(*) as jobs from ${table}`);
  return {
    isEmpty: async () => first.get() === undefined,
    jobsLeft: async () => Number(all.get()?.['jobs']),
    close: async () => database.close(),
  };
}
