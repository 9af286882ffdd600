-- Stores jobs of which some have a dedupe key: the first live record of a key wins. The work is done by the function enqueue_keyed_jobs.
-- Inputs: $1 to $14 as in enqueue.sql; $15 dedupe keys, null where a job has none; $16 their windows in ms.
-- Rows: as there.
-- Locks: as the head of the function says.
-- Safe because: as it says there.
select stored, stored_ids, woken
from {schema}.enqueue_keyed_jobs($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)
