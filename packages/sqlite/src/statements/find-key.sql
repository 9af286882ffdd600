-- Purpose: which job holds a dedupe key.
-- Inputs: queue, key, now. Rows: none or one.
-- Locks: none of its own. Safe because a record past its window is as good as gone.
select id from surety_dedupe where queue = ? and key = ? and until > ?
