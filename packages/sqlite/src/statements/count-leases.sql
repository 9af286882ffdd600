-- Purpose: leases of a queue that live, and that have ended unmoved; and the earliest end of the latter.
-- Inputs: now, now, now, queue. Rows: one.
-- Locks: none. Safe: one row per claim, not per job.
select coalesce(sum(case when until > ? then held end), 0) as live,
  coalesce(sum(case when until <= ? then held end), 0) as ended,
  min(case when until <= ? then until end) as first_end
from surety_claim where queue = ?
