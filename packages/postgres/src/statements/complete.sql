-- Completes leased jobs. The work is done by the function complete_jobs; see its head.
-- Inputs: $1 ids; $2 fences, sorted, and $3 positions in $4, all parallel; $4 nonces of the leases; $5 nonces of claims that have
--   nothing left.
-- Rows: one: completed (count), completed_ids (only when fewer than asked).
-- Locks: job rows; claim rows that hold nothing any more.
-- Safe because: as the head of the function says.
select completed, completed_ids from {schema}.complete_jobs($1, $2, $3, $4, $5)
