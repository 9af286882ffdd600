import { postgres } from '@surety/postgres';
import { observePostgresTable } from '../observers/postgres-table.ts';
import type { Contestant } from './contestant.ts';
import { suretyOn } from './surety.ts';

export const suretyOnPostgres: Contestant = suretyOn({
  packages: ['@surety/postgres', 'pg'],
  backend: (url) => postgres({ url }),
  // Ready, scheduled, leased and dead jobs alike have their row here; a completed job has none.
  observe: (url) => observePostgresTable(url, 'surety.job'),
});
