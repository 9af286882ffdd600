-- Purpose: what a retry, bury or release has to know of its jobs.
-- Inputs: JSON array of seq. Rows: one per job that is stored.
-- Locks: none of its own; read under the write lock.
select j.seq, j.queue, j.type, j.priority, p.attempt, p.deliveries, p.lost_claims, p.interruptions, p.redrives,
  p.loss_backed_off, p.unknown_type_since, p.history
from surety_job j
left join surety_past p on p.seq = j.seq
where j.seq in (select value from json_each(?))
