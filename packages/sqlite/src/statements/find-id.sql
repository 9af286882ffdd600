-- Purpose: whether an id is stored.
-- Inputs: id. Rows: none or one.
-- Locks: none. Safe: one look-up in a unique index.
select seq, queue from surety_job where id = ?
