-- Purpose: one job with all that is known of it.
-- Inputs: name of the queue, id. Rows: none or one.
-- Locks: none. Safe: look-ups by unique keys inside one read transaction.
select j.seq, j.id, j.queue, j.type, j.priority, j.created, coalesce(p.due, j.due) as due, j.max_attempts, j.idempotency_key, j.dedupe_key, j.headers,
  j.payload, p.attempt, p.deliveries, p.lost_claims, p.interruptions, p.redrives, p.history,
  d.at as dead_at, d.reason
from surety_queue q
cross join surety_job j on j.queue = q.id
left join surety_past p on p.seq = j.seq
left join surety_dead d on d.seq = j.seq
where q.name = ? and j.id = ?
