-- How deep a queue is, counted no further than asked.
-- Inputs: $1 queue; $2 where counting may stop.
-- Rows: one: depth.
-- Locks: none.
select (
  (select coalesce(sum(jobs), 0) from (select cardinality(ids) as jobs from {schema}.ticket where queue = $1 order by priority, seq limit $2) as t)
  + (select count(*) from (select from {schema}.job where queue = $1 and state = 1 order by due_at limit $2) as s)
)::int as depth
