-- Purpose: the past of claimed jobs that have one.
-- Inputs: JSON array of seq. Rows: one per job with a past.
-- Locks: none of its own; read under the write lock.
select seq, attempt, lost_claims, interruptions, redrives, loss_backed_off, unknown_type_since, due
from surety_past
where seq in (select value from json_each(?))
