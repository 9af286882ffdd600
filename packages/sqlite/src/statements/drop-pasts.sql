-- Purpose: removes what the unhappy past of jobs left behind.
-- Inputs: JSON array of seq. Rows: none.
-- Locks: the writer's. Safe: goes with drop-jobs.
delete from surety_past where seq in (select value from json_each(?))
