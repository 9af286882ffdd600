-- Claims ready jobs. The work is done by the function claim_jobs; see its head.
-- Inputs: $1 queue; $2 how many; $3 lease in ms; $4 nonce of the new claim; $5 floor of each priority.
-- Rows: one: jobs (one JSON text: an array for each job, or null), reached, paused, replay.
-- Locks: as the head of the function says.
-- Safe because: as the head of the function says.
select jobs, reached, paused, replay from {schema}.claim_jobs($1, $2, $3, $4, $5, true)
