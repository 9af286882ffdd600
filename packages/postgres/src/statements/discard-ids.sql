-- Removes dead letters by id, for good.
-- Inputs: $1 queue; $2 ids.
-- Rows: the ids removed.
-- Locks: the job rows.
delete from {schema}.job where id = any($2::uuid[]) and queue = $1 and state = 2 returning id::text as id
