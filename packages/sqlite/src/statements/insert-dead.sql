-- Purpose: puts a job among the dead letters (G6.1).
-- Inputs: seq, queue, at, type, reason. Rows: none.
-- Locks: the writer's. Safe because the caller took the job out of surety_held in the same transaction.
insert into surety_dead (seq, queue, at, type, reason) values (?, ?, ?, ?, ?)
