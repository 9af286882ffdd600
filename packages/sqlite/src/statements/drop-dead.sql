-- Purpose: takes jobs out of the dead letters.
-- Inputs: JSON array of seq. Rows: none.
-- Locks: the writer's. Safe because the caller saw them there in the same transaction.
delete from surety_dead where seq in (select value from json_each(?))
