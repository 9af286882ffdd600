-- Purpose: stores a job, unless its id is stored already (G3.2).
-- Inputs: seq, id, queue, type, priority, created, due, expires, max_attempts, idempotency_key, dedupe_key, headers, payload.
-- Rows: none; no change says that the id is taken.
-- Locks: the writer's. Safe under rivals: the id is unique, and there is one writer.
insert into surety_job
  (seq, id, queue, type, priority, created, due, expires, max_attempts, idempotency_key, dedupe_key, headers, payload)
values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
on conflict (id) do nothing
