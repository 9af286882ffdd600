-- Purpose: gives a dedupe key to a job (G3.3).
-- Inputs: queue, key, id, until. Rows: none.
-- Locks: the writer's. Safe because the caller saw the key free in the same transaction.
insert or replace into surety_dedupe (queue, key, id, until) values (?, ?, ?, ?)
