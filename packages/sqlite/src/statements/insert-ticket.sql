-- Purpose: puts a job among the ready ones.
-- Inputs: queue, priority, place, seq, due, fence. Rows: none.
-- Locks: the writer's. Safe because the caller took the job out of its former list in the same transaction.
insert into surety_ticket (queue, priority, place, seq, due, fence) values (?, ?, ?, ?, ?, ?)
