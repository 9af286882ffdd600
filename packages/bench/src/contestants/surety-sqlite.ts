import { DatabaseSync } from 'node:sqlite';
import type { LogChoice } from '@surety/core';
import { sqlite } from '@surety/sqlite';
import { observeSqliteTable } from '../observers/sqlite-table.ts';
import type { Contestant, Load } from './contestant.ts';
import { fill } from './fill.ts';
import { OURS, OURS_LOGGED } from './names.ts';
import { payloadSql } from './payloads.ts';
import { suretyOn } from './surety.ts';

export const suretyOnSqlite: Contestant = onSqlite(OURS, 'none');
export const suretyOnSqliteLogged: Contestant = onSqlite(OURS_LOGGED, 'all');

function onSqlite(name: string, log: LogChoice): Contestant {
  const contestant = suretyOn({
    name,
    log,
    packages: ['@surety/sqlite'],
    backend: (file) => sqlite(file),
    // A job in whatever state has its row here; a completed job has none.
    observe: (file) => observeSqliteTable(file, 'surety_job'),
  });
  return { ...contestant, load: (file, wanted) => loadTables(contestant, file, wanted) };
}

async function loadTables(contestant: Contestant, file: string, { count, delayMs }: Load): Promise<void> {
  await fill(contestant, file, { count: 1, delayMs });
  const more = count - 1;
  const database = new DatabaseSync(file);
  try {
    database.exec(`
      pragma busy_timeout = 10000;
      begin immediate;
      insert into surety_job (seq, id, queue, type, priority, created, due, max_attempts, payload)
      with recursive numbers (n) as (select 1 where ${more} >= 1 union all select n + 1 from numbers where n < ${more})
      select one.seq + n, ${ID}, one.queue, one.type, one.priority, one.created, one.due, one.max_attempts, ${payloadSql('n')}
      from surety_job as one cross join numbers;
      insert into surety_ticket (queue, priority, place, seq, due, fence)
      select one.queue, one.priority, one.place, job.seq, one.due, one.fence from surety_ticket as one
      cross join surety_job as job on job.seq > one.seq;
      insert into surety_scheduled (queue, due, seq, priority, fence)
      select one.queue, one.due, job.seq, one.priority, one.fence from surety_scheduled as one
      cross join surety_job as job on job.seq > one.seq;
      update surety_queue set ready = ready + ${more} where ready > 0;
      update surety_queue set scheduled = scheduled + ${more} where scheduled > 0;
      update surety_store set next = next + ${more};
      commit;
    `);
  } finally {
    database.close();
  }
}

/** A UUID of version 7 as core makes them: a thousand a millisecond from the first job on, in order, the rest by chance. */
const ID = `(
  substr(printf('%012x', one.created + n / 1000), 1, 8) || '-' || substr(printf('%012x', one.created + n / 1000), 9, 4)
  || printf('-7%03x-8', n % 1000) || lower(substr(hex(randomblob(2)), 1, 3)) || '-' || lower(hex(randomblob(6)))
)`;
