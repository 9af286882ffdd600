-- Purpose: keeps held equal to the rows of surety_held.
-- Inputs: how many left, claim. Rows: none.
-- Locks: the writer's. Safe because it runs in the transaction that removed them.
update surety_claim set held = held - ? where id = ?
