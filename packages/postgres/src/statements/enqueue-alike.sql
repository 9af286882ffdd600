-- Stores jobs that differ in nothing but id and payload. The work is done by the function enqueue_alike_jobs; see its head.
-- Inputs: $1 ids, $2 queue, $3 type, $4 priority, $5 limit of attempts or null, $6 payloads as one JSON array, $7 channel,
--   $8 whether to notify.
-- Rows: one: stored (count), stored_ids (null: all), woken. Fails as a whole (23505) where an id is stored already.
-- Locks: as the head of the function says.
-- Safe because: as it says there.
select stored, null::text[] as stored_ids, woken
from {schema}.enqueue_alike_jobs($1, $2, $3, $4, $5, $6, $7, $8)
