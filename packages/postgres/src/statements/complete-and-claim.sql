-- Completes leased jobs and claims ready ones, in one call: the hot path. The work is done by the function of this name.
-- Inputs: $1 to $5 as in complete.sql; $6 to $10 as in claim.sql.
-- Rows: one: as there, both.
-- Locks: as there.
-- Safe because: as the head of the function says.
select completed, completed_ids, jobs, reached, paused, replay
from {schema}.complete_and_claim($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
