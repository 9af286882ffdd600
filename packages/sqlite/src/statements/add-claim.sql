-- Purpose: the lease of a claim: one row, however many jobs.
-- Inputs: nonce, queue, until, held. Rows: none; the row's number is its id.
-- Locks: the writer's. Safe because an id that is used again had no row left in surety_held.
insert into surety_claim (nonce, queue, until, held) values (?, ?, ?, ?)
