-- The server's clock at this very moment, to be held against the client's.
-- Inputs: none.
-- Rows: one: at_ms, since 1970.
-- Locks: none.
select extract(epoch from clock_timestamp())::float8 * 1000 as at_ms
