-- Purpose: records of completed jobs, before drop-jobs, where they are to be kept.
-- Inputs: at, outcome, JSON array of seq. Rows: none.
-- Locks: the writer's. Safe to repeat: the newest end of an id replaces the older.
insert or replace into surety_finished
  (id, queue, at, outcome, type, priority, created, max_attempts, idempotency_key, dedupe_key, attempt, deliveries,
   lost_claims, interruptions, redrives, history, headers, payload)
select j.id, j.queue, ?, ?, j.type, j.priority, j.created, j.max_attempts, j.idempotency_key, j.dedupe_key,
  coalesce(p.attempt, 0) + 1, coalesce(p.deliveries, 0) + 1, 0, coalesce(p.interruptions, 0), coalesce(p.redrives, 0),
  p.history, j.headers, j.payload
from surety_job j
left join surety_past p on p.seq = j.seq
where j.seq in (select value from json_each(?))
