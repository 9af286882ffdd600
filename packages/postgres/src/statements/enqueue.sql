-- Stores jobs without dedupe keys.
-- Inputs, one array per field, parallel: $1 ids, sorted, $2 queues, $3 types, $4 priorities, $5 payloads, $6 delays in ms, and, null where
--   no job has one: $7 headers as JSON text, $8 idempotency keys, $9 times to expiry in ms, $10 most attempts;
--   $11 channel; $12 whether to notify; $13 delay in ms up to which a waiting worker wants to know at once;
--   $14 the places in which the jobs were given, null when that is the order of $1.
-- Rows: one: stored (count), stored_ids (only when fewer than asked), woken.
-- Locks: the new rows, in the order of their ids, so that two batches with the same ids do not wait for each other.
-- Safe because: an id is the primary key. The statement's own time is used, so it may run in a long transaction.
with number as materialized (
  select array_agg(nextval('{schema}.job_seq')) as seqs from generate_series(1, cardinality($1::uuid[]))
),
item as materialized (
  select id, queue, type, priority, payload, delay_ms, headers, idempotency_key, expires_in_ms, max_attempts,
    (select seqs from number)[coalesce(($14::int[])[place], place)] as seq
  from unnest(
    $1::uuid[], $2::text[], $3::text[], $4::smallint[], $5::text[], $6::bigint[], $7::text[], $8::text[], $9::bigint[], $10::int[]
  ) with ordinality as given (
    id, queue, type, priority, payload, delay_ms, headers, idempotency_key, expires_in_ms, max_attempts, place
  )
),
stored as (
  insert into {schema}.job (
    id, seq, fence, created_at, due_at, expires_at, max_attempts, priority, state, queue, type, idempotency_key, headers, payload
  )
  select id, seq, seq, statement_timestamp(), statement_timestamp() + delay_ms * interval '1 ms',
    statement_timestamp() + expires_in_ms * interval '1 ms', max_attempts, priority,
    case when delay_ms > 0 then 1 else 0 end, queue, type, idempotency_key, headers::json, payload::json
  from item
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
