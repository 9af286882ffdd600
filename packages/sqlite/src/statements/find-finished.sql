-- Purpose: the record of an ended job.
-- Inputs: name of the queue, id, at: older ones are as good as gone. Rows: none or one.
-- Locks: none.
select f.id, f.type, f.priority, f.created, f.at, f.outcome, f.max_attempts, f.idempotency_key, f.dedupe_key, f.headers,
  f.payload, f.attempt, f.deliveries, f.lost_claims, f.interruptions, f.redrives, f.history
from surety_queue q
cross join surety_finished f on f.queue = q.id
where q.name = ? and f.id = ? and f.at > ?
