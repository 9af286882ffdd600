import type { LogChoice } from '@surety/core';
import { postgres } from '@surety/postgres';
import { observePostgresTable } from '../observers/postgres-table.ts';
import type { Contestant, Load } from './contestant.ts';
import { fill } from './fill.ts';
import { OURS, OURS_LOGGED } from './names.ts';
import { payloadSql } from './payloads.ts';
import { withPostgres } from './postgres-client.ts';
import { suretyOn } from './surety.ts';

export const suretyOnPostgres: Contestant = onPostgres(OURS, 'none');
export const suretyOnPostgresLogged: Contestant = onPostgres(OURS_LOGGED, 'all');

function onPostgres(name: string, log: LogChoice): Contestant {
  const contestant = suretyOn({
    name,
    log,
    packages: ['@surety/postgres', 'pg'],
    backend: (url) => postgres({ url }),
    // Ready, scheduled, leased and dead jobs alike have their row here; a completed job has none.
    observe: (url) => observePostgresTable(url, { table: 'surety.job', live: 'true' }),
  });
  return { ...contestant, load: (url, wanted) => loadTables(contestant, url, wanted) };
}

async function loadTables(contestant: Contestant, url: string, { count, delayMs }: Load): Promise<void> {
  await fill(contestant, url, { count: 1, delayMs });
  await withPostgres(url, async (client) => {
    await client.query(
      `insert into surety.job (
         id, seq, fence, created_at, due_at, max_attempts, priority, state, queue, type, payload
       )
       select ${ID}, number, number, one.created_at, one.due_at, one.max_attempts, one.priority, one.state, one.queue, one.type,
         ${payloadSql('n')}::json
       from surety.job as one
       cross join (
         select 32 * nth + member as n, first + member - 1 as number
         from (select nth, nextval('surety.job_seq') as first from generate_series(0, ($1::int - 1) / 32) as nth) as by_call
         cross join generate_series(1, 32) as member
       ) as numbered
       where n between 1 and $1::int`,
      [count - 1],
    );
    await client.query(
      `insert into surety.ticket (queue, priority, seq, fence, ready_at, ids)
       select queue, priority, min(seq), min(seq), min(due_at), array_agg(id order by seq)
       from surety.job
       where state = 0 and id not in (select unnest(ids) from surety.ticket)
       group by queue, priority, (seq - 1) / 32
       order by min(seq)`,
    );
  });
}

/** A UUID of version 7 as core makes them: a thousand a millisecond, in order, the rest by chance; from the millisecond after the first job. */
const ID = `(
  lpad(to_hex((extract(epoch from one.created_at) * 1000)::bigint + 1 + n / 1000), 12, '0')
  || '7' || lpad(to_hex(n % 1000), 3, '0') || '8' || substr(md5(random()::text), 1, 15)
)::uuid`;
