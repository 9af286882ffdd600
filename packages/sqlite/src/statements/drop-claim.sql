-- Purpose: removes a claim that holds nothing any more.
-- Inputs: claim. Rows: none.
-- Locks: the writer's. Safe because its last rows left surety_held in the same transaction.
delete from surety_claim where id = ?
