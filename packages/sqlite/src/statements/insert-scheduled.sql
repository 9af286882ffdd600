-- Purpose: puts a job among those due later.
-- Inputs: queue, due, seq, priority, fence. Rows: none.
-- Locks: the writer's. Safe because the caller took the job out of its former list in the same transaction.
insert into surety_scheduled (queue, due, seq, priority, fence) values (?, ?, ?, ?, ?)
