-- Purpose: a page of dead letters, newest first (G6.2).
-- Inputs: name of the queue, at and seq of the last entry seen, limit. Rows: up to limit.
-- Locks: none. Safe: the order is that of an index whose keys never change while an entry stands.
select j.seq, j.id, j.type, j.priority, j.created, coalesce(p.due, j.due) as due, j.max_attempts, j.idempotency_key, j.dedupe_key, j.headers,
  j.payload, p.attempt, p.deliveries, p.lost_claims, p.interruptions, p.redrives, p.history,
  d.at as dead_at, d.reason
from surety_queue q
cross join surety_dead d on d.queue = q.id
cross join surety_job j on j.seq = d.seq
left join surety_past p on p.seq = d.seq
where q.name = ? and (d.at, d.seq) < (?, ?)
order by d.at desc, d.seq desc
limit ?
