-- Purpose: whether a claim would find anything, without the write lock and without a commit; and when to look again.
-- Inputs: nonce of the claim, name of the queue. Rows: none where the queue is unknown, else one.
-- Locks: none. Safe because its answer is only a hint: the claim itself looks again under the write lock.
select q.paused,
  exists (select 1 from surety_ticket t where t.queue = q.id) as ready,
  exists (select 1 from surety_claim c where c.nonce = ?) as known,
  (select min(s.due) from surety_scheduled s where s.queue = q.id) as due,
  (select min(c.until) from surety_claim c where c.queue = q.id) as until
from surety_queue q
where q.name = ?
