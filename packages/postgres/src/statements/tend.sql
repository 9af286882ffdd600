-- Ends expired claims of a queue, moves due jobs into line, and marks the queue as waited for. One bounded step.
-- Inputs: $1 queue; $2 most claims to end; $3 how many jobs to take back (the claim that reaches it is the last)
--   and most due jobs to move; $4 how long the mark of an idle worker lives, in ms (0: none).
-- Rows: one: lost (jobs taken back from expired claims), claims (claims ended), moved (jobs that were due), ready (a ticket
--   was there before this step), paused, next_due_ms (until the next scheduled job is due, or null).
-- Locks: expired claim rows and due job rows with skip locked, then the jobs of those claims.
-- Safe because: whoever deletes the claim row is the only one to take its jobs back, and only those that still have the fence
--   leased by it. A claim that is being renewed is locked and left alone; its end is judged again on the row as locked.
with ended as (
  delete from {schema}.claim
  where ctid = any(array(
    select place from (
      select place, sum(jobs) over (order by until rows unbounded preceding) - jobs as before
      from (
        select ctid as place, until, cardinality(ids) as jobs from {schema}.claim
        where queue = $1 and until <= statement_timestamp()
        order by until limit $2 for update skip locked
      ) as locked
    ) as counted
    where before < $3
  ))
  returning ids, fences, until
),
lost as materialized (
  select array_agg(id order by id, fence) as ids, array_agg(fence order by id, fence) as fences,
    array_agg(until order by id, fence) as ends
  from (select unnest(ids) as id, unnest(fences) as fence, until from ended) as m
),
taken_back as (
  update {schema}.job set
    fence = nextval('{schema}.job_seq'),
    attempt = attempt + 1,
    deliveries = deliveries + 1,
    lost_claims = lost_claims + 1,
    backed_off = false,
    due_at = ((select ends from lost))[width_bucket(id, (select ids from lost))]
  where id = any((select ids from lost)::uuid[])
    and state = 0
    and fence = ((select fences from lost))[width_bucket(id, (select ids from lost))]
  returning id, seq, fence, priority, due_at
),
due as materialized (
  select id from {schema}.job
  where queue = $1 and state = 1 and due_at <= statement_timestamp()
  order by due_at limit $3
  for update skip locked
),
line as materialized (
  select array_agg(id order by id) as ids, array_agg(seq order by id) as seqs
  from (select id, nextval('{schema}.job_seq') as seq from due) as numbered
),
moved as (
  update {schema}.job set
    state = 0,
    seq = ((select seqs from line))[width_bucket(id, (select ids from line))]
  where id = any((select ids from line)::uuid[]) and state = 1
  returning id, seq, fence, priority, due_at
),
tickets as (
  insert into {schema}.ticket (queue, priority, seq, fence, id, ready_at)
  select $1, priority, seq, fence, id, due_at from taken_back
  union all
  select $1, priority, seq, fence, id, due_at from moved
),
mark as (
  insert into {schema}.idle (queue, until)
  select $1, statement_timestamp() + $4::bigint * interval '1 ms' where $4 > 0
  on conflict (queue) do update set until = excluded.until where idle.until < excluded.until
)
select
  (select count(*)::int from taken_back) as lost,
  (select count(*)::int from ended) as claims,
  (select count(*)::int from moved) as moved,
  (select true from {schema}.ticket where queue = $1 order by priority, seq limit 1) is not null as ready,
  exists(select from {schema}.paused where queue = $1) as paused,
  (
    select ceil(date_part('epoch', min(due_at) - statement_timestamp()) * 1000) from {schema}.job
    where queue = $1 and state = 1 and due_at > statement_timestamp()
  ) as next_due_ms
