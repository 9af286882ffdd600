-- Purpose: the end of completed or discarded jobs.
-- Inputs: JSON array of seq. Rows: none.
-- Locks: the writer's. Safe because the caller took them out of their list in the same transaction.
delete from surety_job where seq in (select value from json_each(?))
