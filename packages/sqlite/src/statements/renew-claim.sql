-- Purpose: a new end for a claim whose every lease is renewed (G2.3).
-- Inputs: until, claim. Rows: none.
-- Locks: the writer's. Safe because the caller saw it alive in the same transaction.
update surety_claim set until = ? where id = ?
