-- Queues that hold a job in any state or are paused, each found by one step in an index.
-- Inputs: none.
-- Rows: one per queue: queue.
-- Locks: none.
with recursive
ready as (
  (select queue from {schema}.ticket order by queue limit 1)
  union all
  select (select t.queue from {schema}.ticket as t where t.queue > ready.queue order by t.queue limit 1)
  from ready where ready.queue is not null
),
scheduled as (
  (select queue from {schema}.job where state = 1 order by queue limit 1)
  union all
  select (select j.queue from {schema}.job as j where j.state = 1 and j.queue > scheduled.queue order by j.queue limit 1)
  from scheduled where scheduled.queue is not null
),
dead as (
  (select queue from {schema}.job where state = 2 order by queue limit 1)
  union all
  select (select j.queue from {schema}.job as j where j.state = 2 and j.queue > dead.queue order by j.queue limit 1)
  from dead where dead.queue is not null
)
select queue from ready where queue is not null
union select queue from scheduled where queue is not null
union select queue from dead where queue is not null
union select queue from {schema}.paused
union select c.queue from {schema}.claim as c
where exists (select from {schema}.job where id = any(c.ids) and state = 0 and fence = any(c.fences))
order by queue
