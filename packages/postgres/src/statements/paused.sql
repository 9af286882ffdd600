-- Whether a queue is paused.
-- Inputs: $1 queue.
-- Rows: one: paused.
-- Locks: none.
select exists(select from {schema}.paused where queue = $1) as paused
