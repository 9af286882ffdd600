-- Stores jobs without dedupe keys. The work is done by the function enqueue_jobs; see its head.
-- Inputs, one array per field, parallel: $1 ids, sorted, $2 queues, $3 types, $4 priorities, $5 payloads, $6 delays in ms, and, null where
--   no job has one: $7 headers as JSON text, $8 idempotency keys, $9 times to expiry in ms, $10 most attempts;
--   $11 channel; $12 whether to notify; $13 delay in ms up to which a waiting worker wants to know at once;
--   $14 the places in which the jobs were given, null when that is the order of $1.
-- Rows: one: stored (count), stored_ids (only when fewer than asked), woken.
-- Locks: as the head of the function says.
-- Safe because: as it says there.
select stored, stored_ids, woken
from {schema}.enqueue_jobs($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)
