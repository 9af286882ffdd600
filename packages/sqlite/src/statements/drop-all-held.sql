-- Purpose: ends all leases of a claim.
-- Inputs: claim. Rows: none.
-- Locks: the writer's. Safe because the caller saw all of them held in the same transaction.
delete from surety_held where claim = ?
