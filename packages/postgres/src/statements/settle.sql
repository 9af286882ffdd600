-- Ends leases in every way. The work is done by the function settle_jobs; see its head.
-- Inputs: $1 to $5 as in complete.sql; parallel to $2: $6 what becomes of the job (-2 completed, -1 cancelled, 0 ready, 1 scheduled,
--   2 dead), $7 delays in ms, $8 attempts charged, $9 reasons of a release (0 unstarted, 1 stop, 2 unknown-type,
--   3 loss-backoff, 4 snooze; null: no release), $10 errors as JSON text or null; $11 how long records of completed jobs are
--   kept, in ms (0: none); $12 channel; $13 whether to notify; $14 most entries of a history (the first and the last ones).
-- Rows: one: completed and completed_ids, of every ended lease.
-- Locks: job rows; claim rows that hold nothing any more.
-- Safe because: as the head of the function says.
select completed, completed_ids from {schema}.settle_jobs($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)
