-- Stores jobs of which some have a dedupe key: the first live record of a key wins.
-- Inputs: $1 to $14 as in enqueue.sql; $15 dedupe keys, null where a job has none; $16 their windows in ms.
-- Rows: as there. Who holds a key that was not won is asked afterwards: what a rival has just stored cannot be seen here.
-- Locks: the dedupe records, in order of queue and key, and the new rows, in the order of
--   their ids.
-- Safe because: the record is the primary key (queue, key); the loser of a race waits for the winner and then leaves it alone.
--   A job whose id is stored already does not take the key.
with number as materialized (
  select array_agg(nextval('{schema}.job_seq')) as seqs from generate_series(1, cardinality($1::uuid[]))
),
item as materialized (
  select id, queue, type, priority, payload, delay_ms, headers, idempotency_key, expires_in_ms, max_attempts,
    dedupe_key, window_ms, coalesce(($14::int[])[place], place) as place,
    (select seqs from number)[coalesce(($14::int[])[place], place)] as seq
  from unnest(
    $1::uuid[], $2::text[], $3::text[], $4::smallint[], $5::text[], $6::bigint[], $7::text[], $8::text[], $9::bigint[], $10::int[],
    $15::text[], $16::bigint[]
  ) with ordinality as given (
    id, queue, type, priority, payload, delay_ms, headers, idempotency_key, expires_in_ms, max_attempts,
    dedupe_key, window_ms, place
  )
),
first as materialized (
  select distinct on (queue, dedupe_key) id, queue, dedupe_key, window_ms
  from item
  where dedupe_key is not null and not exists (select from {schema}.job where job.id = item.id)
  order by queue, dedupe_key, place
),
won as (
  insert into {schema}.dedupe as d (queue, key, job_id, until)
  select queue, dedupe_key, id, statement_timestamp() + window_ms * interval '1 ms' from first
  on conflict (queue, key) do update set job_id = excluded.job_id, until = excluded.until
    where d.until <= statement_timestamp()
  returning d.job_id
),
stored as (
  insert into {schema}.job (
    id, seq, fence, created_at, due_at, expires_at, max_attempts, priority, state, queue, type, idempotency_key, dedupe_key, headers,
    payload
  )
  select id, seq, seq, statement_timestamp(), statement_timestamp() + delay_ms * interval '1 ms',
    statement_timestamp() + expires_in_ms * interval '1 ms', max_attempts, priority,
    case when delay_ms > 0 then 1 else 0 end, queue, type, idempotency_key, dedupe_key, headers::json, payload::json
  from item
  where dedupe_key is null or id = any(array(select job_id from won))
  on conflict (id) do nothing
  returning id, queue, priority, seq, fence, due_at, state
),
tickets as (
  insert into {schema}.ticket (queue, priority, seq, fence, id, ready_at)
  select queue, priority, seq, fence, id, due_at from stored where state = 0
)
select
  (select count(*)::int from stored) as stored,
  case when (select count(*) from stored) < cardinality($1::uuid[]) then array(select id::text from stored) end as stored_ids,
  (
    select count(pg_notify($11, q.queue))::int
    from (
      select distinct queue from stored where due_at <= statement_timestamp() + $13::bigint * interval '1 ms'
    ) as q
    where $12 and exists (select from {schema}.idle where idle.queue = q.queue and until > statement_timestamp())
  ) as woken
