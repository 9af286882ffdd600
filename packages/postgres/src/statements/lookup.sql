-- One job, in whatever state, or the record of a completed one.
-- Inputs: $1 queue; $2 id.
-- Rows: none or one: the fields of a view; state as a word; due_in_ms only when it waits.
-- Locks: none.
-- Safe because: a job with state 0 and no living claim that leased its fence is ready: it has a ticket, or its claim has ended
--   and nobody has taken it back yet (then the loss is counted here as it will be).
with grip as materialized (
  select c.until from {schema}.job as j, {schema}.claim as c
  where j.id = $2::uuid and j.queue = $1 and j.state = 0 and c.queue = $1 and j.id = any(c.ids) and j.fence = any(c.fences)
  limit 1
),
hold as materialized (
  select (select until from grip) as until,
    (select count(*)::int from grip) as held,
    (select count(*)::int from grip where until <= statement_timestamp()) as lost
)
select
  id::text as id, queue, type, priority, headers::text as headers, idempotency_key, max_attempts,
  attempt + lost as attempt, deliveries + held as deliveries, lost_claims + lost as lost_claims,
  interruptions, redrives, payload::text as payload, dedupe_key, history,
  round(date_part('epoch', statement_timestamp() - created_at) * 1000) as age_ms,
  case
    when state = 1 and due_at > statement_timestamp() then 'scheduled'
    when state = 2 then 'dead'
    when held > lost then 'leased'
    else 'ready'
  end as state,
  case
    when state = 2 or held > lost then null
    else round(date_part('epoch', coalesce(until, due_at) - statement_timestamp()) * 1000)
  end as due_in_ms
from {schema}.job, hold
where id = $2::uuid and queue = $1
union all
select
  id::text as id, queue, type, priority, headers::text as headers, idempotency_key, max_attempts, attempt, deliveries, lost_claims,
  interruptions, redrives, payload::text as payload, dedupe_key, history,
  round(date_part('epoch', statement_timestamp() - created_at) * 1000) as age_ms,
  case when cancelled then 'cancelled' else 'completed' end, null
from {schema}.completed
where id = $2::uuid and queue = $1 and not exists (select from {schema}.job where id = $2::uuid)
limit 1
