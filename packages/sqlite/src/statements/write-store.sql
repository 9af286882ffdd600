-- Purpose: the last statement of every write: numbers given out, and how far the clock has come.
-- Inputs: next, high, shift. Rows: none.
-- Locks: the writer's. Safe because the values come from read-store of the same transaction.
update surety_store set next = ?, high = ?, shift = ? where one = 1
