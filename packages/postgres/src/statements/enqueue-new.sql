-- Stores jobs whose ids are new. The work is done by the function enqueue_new_jobs; see its head.
-- Inputs: as in enqueue.sql.
-- Rows: one: stored (count), stored_ids (null: all), woken. Fails as a whole (23505) where an id is stored already.
-- Locks: as the head of the function says.
-- Safe because: as it says there.
select stored, null::text[] as stored_ids, woken
from {schema}.enqueue_new_jobs($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)
