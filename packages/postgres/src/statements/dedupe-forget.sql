-- Frees a dedupe key.
-- Inputs: $1 queue; $2 key.
-- Rows: none.
-- Locks: the record.
delete from {schema}.dedupe where queue = $1 and key = $2
