-- Purpose: removes dedupe records past their window, in steps, more of them than the same call adds.
-- Inputs: now, limit. Rows: none.
-- Locks: the writer's. Safe to repeat.
delete from surety_dedupe
where (queue, key) in (select queue, key from surety_dedupe where until <= ? order by until limit ?)
