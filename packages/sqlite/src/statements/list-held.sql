-- Purpose: all jobs that a claim holds.
-- Inputs: claim. Rows: as many as the claim's held.
-- Locks: none of its own; read under the write lock.
select seq, fence, place from surety_held where claim = ?
