-- Purpose: the first statement of every transaction: where numbers and clock stand. The time is SQLite's own reading of
--   the machine's clock, which no faked Date reaches.
-- Inputs: none. Rows: one.
-- Locks: none of its own. Safe because a writer has begun "immediate": nobody changes the row before it commits.
select next, high, shift, cast(round(unixepoch('subsec') * 1000) as integer) as machine
from surety_store
