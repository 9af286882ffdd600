-- Purpose: the oldest dead letters of a queue, of a type or of any, to discard.
-- Inputs: name of the queue, type, type (null: any), limit. Rows: up to limit.
-- Locks: none of its own; read under the write lock.
select d.seq, d.queue, j.id
from surety_queue q
cross join surety_dead d on d.queue = q.id
cross join surety_job j on j.seq = d.seq
where q.name = ? and (? is null or d.type = ?)
order by d.at, d.seq
limit ?
