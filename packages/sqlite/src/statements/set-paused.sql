-- Purpose: pause and resume (G9.1, G9.2).
-- Inputs: 1 or 0, name. Rows: none.
-- Locks: the writer's. Safe to repeat.
update surety_queue set paused = ? where name = ?
