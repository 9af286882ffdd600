-- Purpose: number and pause of a queue for a claim; and the first due time and the first end of a lease, which tell whether
--   there is anything to move.
-- Inputs: name. Rows: none or one.
-- Locks: none of its own. Safe: read under the write lock. Reads all claims, which are few.
select q.id, q.paused,
  (select min(s.due) from surety_scheduled s where s.queue = q.id) as first_due,
  (select min(c.until) from surety_claim c where c.queue = q.id) as first_end
from surety_queue q
where q.name = ?
