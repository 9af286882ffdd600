-- A page of dead letters, newest first.
-- Inputs: $1 queue; $2 type or null; $3 how many; $4 and $5 where the page before ended (microseconds, id), or null.
-- Rows: dead letters, as lookup.sql, with dead_at and dead_us.
-- Locks: none.
-- Safe because: (dead_at, id) is a total order, so a page never repeats or skips what was there when the listing began. It is
--   that of the table, named as such: on their own the words would be the texts selected here, which no index has.
select
  id::text as id, queue, type, priority, headers::text as headers, idempotency_key, max_attempts, attempt, deliveries, lost_claims,
  interruptions, redrives, payload::text as payload, dedupe_key, history,
  round(date_part('epoch', statement_timestamp() - created_at) * 1000) as age_ms,
  null::float8 as due_in_ms, 'dead' as state,
  to_char(dead_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as dead_at,
  (extract(epoch from dead_at) * 1000000)::bigint::text as dead_us
from {schema}.job
where queue = $1
  and state = 2
  and ($2::text is null or type = $2)
  and ($4::bigint is null
    or (dead_at, id) < (timestamptz 'epoch' + $4::bigint * interval '1 microsecond', $5::uuid))
order by job.dead_at desc, job.id desc
limit $3
