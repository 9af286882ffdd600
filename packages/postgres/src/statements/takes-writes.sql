-- Whether this session leads to a server that takes writes, and not to a replica or a primary that was demoted.
-- Inputs: none.
-- Rows: one: writable.
-- Locks: none.
select not pg_is_in_recovery() and current_setting('transaction_read_only') = 'off' as writable
