-- How deep a queue is, counted no further than asked.
-- Inputs: $1 queue; $2 where counting may stop.
-- Rows: one: depth.
-- Locks: none.
select (
  (select count(*) from (select from {schema}.ticket where queue = $1 limit $2) as t)
  + (select count(*) from (select from {schema}.job where queue = $1 and state = 1 limit $2) as s)
)::int as depth
