-- What is where in one queue. One pass over its tickets, its scheduled and dead index entries, and its claims.
-- Inputs: $1 queue.
-- Rows: one: ready, scheduled, leased, dead, oldest_ms (age of the oldest ready job from its due time, or null).
-- Locks: none.
-- Safe because: one statement sees one state of the store. A due job counts as ready, moved or not, and so does one whose
--   claim has ended. What a claim still holds are the jobs that have the fence it leased.
with member as materialized (
  select unnest(ids) as id, unnest(fences) as fence, until, until > statement_timestamp() as live
  from {schema}.claim where queue = $1
),
line as materialized (
  select array_agg(id order by id, fence) as ids, array_agg(fence order by id, fence) as fences,
    array_agg(live order by id, fence) as lives, array_agg(until order by id, fence) as ends
  from member
),
held as materialized (
  select ((select lives from line))[width_bucket(id, (select ids from line))] as live,
    ((select ends from line))[width_bucket(id, (select ids from line))] as until
  from {schema}.job
  where id = any((select ids from line)::uuid[])
    and state = 0
    and fence = ((select fences from line))[width_bucket(id, (select ids from line))]
),
waiting as materialized (
  select coalesce(sum(cardinality(ids)), 0) as n, min(ready_at) as since from {schema}.ticket where queue = $1
),
late as materialized (
  select count(*) as n, min(due_at) as since from {schema}.job
  where queue = $1 and state = 1 and due_at <= statement_timestamp()
),
lost as materialized (
  select count(*) as n, min(until) as since from held where not live
)
select
  ((select n from waiting) + (select n from late) + (select n from lost))::float8 as ready,
  (select count(*) from {schema}.job where queue = $1 and state = 1 and due_at > statement_timestamp())::float8 as scheduled,
  (select count(*) from held where live)::float8 as leased,
  (select count(*) from {schema}.job where queue = $1 and state = 2)::float8 as dead,
  round(date_part('epoch', statement_timestamp() - least(
    (select since from waiting), (select since from late), (select since from lost)
  )) * 1000) as oldest_ms
