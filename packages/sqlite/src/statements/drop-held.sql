-- Purpose: ends the leases of the named jobs.
-- Inputs: claim, JSON array of seq. Rows: none.
-- Locks: the writer's. Safe because the caller saw them held in the same transaction.
delete from surety_held where claim = ? and seq in (select value from json_each(?))
