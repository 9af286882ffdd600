-- Ends expired claims of a queue, moves due jobs into line, and marks the queue as waited for. One bounded step, done by the
--   function tend_queue.
-- Inputs: $1 queue; $2 most claims to end; $3 how many jobs to take back (the claim that reaches it is the last)
--   and most due jobs to move; $4 how long a mark of an idle worker lives, in ms (0: make none).
-- Rows: one: lost, claims, moved, ready, paused, marked, next_due_ms; the head of the function says what they mean.
-- Locks: as it says there.
-- Safe because: as it says there.
select lost, claims, moved, ready, paused, marked, next_due_ms from {schema}.tend_queue($1, $2, $3, $4)
