-- Purpose: reads the next ready jobs of a queue in the order of claims, after a given ticket.
-- Inputs: queue, priority, place, seq of the last ticket read; limit. Rows: up to limit.
-- Locks: none of its own; read under the write lock. "cross join" pins the order of the look-ups: the tickets lead.
select t.seq, t.fence, t.due, j.id, j.type, j.expires, j.max_attempts, j.idempotency_key, j.headers, j.payload,
  t.priority, t.place
from surety_ticket t
cross join surety_job j on j.seq = t.seq
where t.queue = ? and (t.priority, t.place, t.seq) > (?, ?, ?)
order by t.priority, t.place, t.seq
limit ?
