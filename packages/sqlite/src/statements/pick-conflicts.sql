-- Purpose: the oldest dead letters whose dedupe key another job holds.
-- Inputs: name of the queue, type, type (null: any), now, limit. Rows: up to limit.
-- Locks: none of its own; read under the write lock.
select j.id, k.id as holder
from surety_queue q
cross join surety_dead d on d.queue = q.id
cross join surety_job j on j.seq = d.seq
cross join surety_dedupe k on k.queue = d.queue and k.key = j.dedupe_key and k.id <> j.id
where q.name = ? and (? is null or d.type = ?) and k.until > ?
order by d.at, d.seq
limit ?
