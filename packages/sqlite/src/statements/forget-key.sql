-- Purpose: frees a dedupe key before its time.
-- Inputs: name of the queue, key. Rows: none.
-- Locks: the writer's. Safe to repeat.
delete from surety_dedupe where queue = (select id from surety_queue where name = ?) and key = ?
