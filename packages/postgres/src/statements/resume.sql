-- Resumes a queue, and tells waiting workers.
-- Inputs: $1 queue; $2 channel; $3 whether to notify.
-- Rows: one: woken.
-- Locks: the row of the queue.
with changed as (
  delete from {schema}.paused where queue = $1 returning queue
)
select count(pg_notify($2, queue))::int as woken from changed
where $3 and exists (select from {schema}.idle_mark as m where m.queue = $1 and until > statement_timestamp())
