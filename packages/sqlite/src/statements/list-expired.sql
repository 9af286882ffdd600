-- Purpose: claims of a queue that have ended unsettled, oldest first.
-- Inputs: queue, now, limit. Rows: up to limit.
-- Locks: none of its own; read under the write lock, so that what it says holds until the commit.
select id, until, held from surety_claim where queue = ? and until <= ? order by until limit ?
