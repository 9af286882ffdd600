-- Purpose: a dead letter by id, as much of it as redrive and discard need.
-- Inputs: name of the queue, id. Rows: none or one.
-- Locks: none of its own; read under the write lock, so that of two operators the second finds it gone (G6.4).
select d.seq, d.queue, j.id, j.priority, j.dedupe_key, p.deliveries
from surety_queue q
cross join surety_job j on j.queue = q.id
cross join surety_dead d on d.seq = j.seq
cross join surety_past p on p.seq = j.seq
where q.name = ? and j.id = ?
