import { sqlite } from '@surety/sqlite';
import { observeSqliteTable } from '../observers/sqlite-table.ts';
import type { Contestant } from './contestant.ts';
import { suretyOn } from './surety.ts';

export const suretyOnSqlite: Contestant = suretyOn({
  packages: ['@surety/sqlite'],
  backend: (file) => sqlite(file),
  // A job in whatever state has its row here; a completed job has none.
  observe: (file) => observeSqliteTable(file, 'surety_job'),
});
