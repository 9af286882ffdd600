-- Purpose: number, pause and counters of a queue.
-- Inputs: name. Rows: none or one.
-- Locks: none. Safe: one look-up in a unique index.
select id, paused, ready, scheduled, dead from surety_queue where name = ?
