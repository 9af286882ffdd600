-- Purpose: which of the named jobs a claim holds.
-- Inputs: claim, JSON array of seq. Rows: those held.
-- Locks: none of its own; read under the write lock.
select seq, fence, place from surety_held where claim = ? and seq in (select value from json_each(?))
