-- One dead letter.
-- Inputs: $1 queue; $2 id.
-- Rows: none or one, as dead-list.sql.
-- Locks: none.
select
  id::text as id, queue, type, priority, headers::text as headers, idempotency_key, max_attempts, attempt, deliveries, lost_claims,
  interruptions, redrives, payload::text as payload, dedupe_key, history,
  round(date_part('epoch', statement_timestamp() - created_at) * 1000) as age_ms,
  null::float8 as due_in_ms, 'dead' as state,
  to_char(dead_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as dead_at,
  (extract(epoch from dead_at) * 1000000)::bigint::text as dead_us
from {schema}.job
where id = $2::uuid and queue = $1 and state = 2
