-- Removes what has outlived its time: dedupe records, records of completed jobs, idle marks. One bounded step.
-- Inputs: $1 most rows of each kind; $2 how long records of completed jobs are kept, in ms.
-- Rows: one: removed, the most of one kind.
-- Locks: the rows, with skip locked.
with keys as (
  delete from {schema}.dedupe
  where ctid = any(array(
    select ctid from {schema}.dedupe where until <= statement_timestamp() order by until limit $1 for update skip locked
  ))
  returning 1
),
records as (
  delete from {schema}.completed
  where ctid = any(array(
    select ctid from {schema}.completed
    where finished_at <= statement_timestamp() - $2::bigint * interval '1 ms'
    order by finished_at limit $1 for update skip locked
  ))
  returning 1
),
marks as (
  delete from {schema}.idle_mark
  where ctid = any(array(
    select ctid from {schema}.idle_mark where until <= statement_timestamp() - interval '1 minute' limit $1 for update skip locked
  ))
  returning 1
)
select greatest(
  (select count(*) from keys), (select count(*) from records), (select count(*) from marks)
)::int as removed
