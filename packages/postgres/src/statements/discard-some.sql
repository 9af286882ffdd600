-- Removes up to so many dead letters, oldest first, for good.
-- Inputs: $1 queue; $2 type or null; $3 how many.
-- Rows: the ids removed.
-- Locks: the job rows, with skip locked.
delete from {schema}.job
where state = 2 and id = any(array(
  select id from {schema}.job
  where queue = $1 and state = 2 and ($2::text is null or type = $2)
  order by dead_at, id limit $3
  for update skip locked
))
returning id::text as id
