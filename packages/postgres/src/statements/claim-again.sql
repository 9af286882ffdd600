-- The leases that a claim of this nonce still holds: what a lost answer held. Changes nothing.
-- Inputs: $1 nonce; $2 queue.
-- Rows: one per job: facts (as in the function claim_jobs, without the payload), payload as text.
-- Locks: none.
-- Safe because: only living claim rows are read, and only jobs that still have the fence leased by them.
with member as materialized (
  select unnest(ids) as id, unnest(fences) as fence from {schema}.claim
  where nonce = $1::uuid and queue = $2 and until > statement_timestamp()
),
line as materialized (
  select array_agg(id order by id, fence) as ids, array_agg(fence order by id, fence) as fences from member
)
select
  json_build_array(
    id, fence, seq, priority, type, date_part('epoch', statement_timestamp() - due_at),
    json_build_array(
      attempt, deliveries, lost_claims, interruptions, redrives, backed_off,
      date_part('epoch', statement_timestamp() - unknown_since)
    ),
    json_build_array(headers, idempotency_key, max_attempts, date_part('epoch', expires_at - statement_timestamp()))
  )::text as facts,
  payload::text as payload
from {schema}.job
where id = any((select ids from line)::uuid[])
  and state = 0
  and fence = ((select fences from line))[width_bucket(id, (select ids from line))]
