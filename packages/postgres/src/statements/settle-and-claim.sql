-- Ends leases in every way and claims ready jobs, in one call. The work is done by the function of this name.
-- Inputs: $1 to $14 as in settle.sql; $15 to $19 as in claim.sql.
-- Rows: one: as there, both.
-- Locks: as there.
-- Safe because: as the head of the function says.
select completed, completed_ids, jobs, reached, paused, replay
from {schema}.settle_and_claim($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19)
