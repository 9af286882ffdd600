-- Purpose: the oldest dead letters of a queue, of a type or of any, that no other job's live dedupe key keeps from being
--   redriven. So a redrive by selection always gets on, however many conflicts stand in front.
-- Inputs: name of the queue, type, type (null: any), now, limit. Rows: up to limit.
-- Locks: none of its own; read under the write lock.
select d.seq, d.queue, j.id, j.priority, j.dedupe_key, p.deliveries
from surety_queue q
cross join surety_dead d on d.queue = q.id
cross join surety_job j on j.seq = d.seq
cross join surety_past p on p.seq = d.seq
where q.name = ? and (? is null or d.type = ?) and not exists (
  select 1 from surety_dedupe k where k.queue = d.queue and k.key = j.dedupe_key and k.id <> j.id and k.until > ?)
order by d.at, d.seq
limit ?
