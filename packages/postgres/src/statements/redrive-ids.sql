-- Redrives dead letters by id.
-- Inputs: $1 queue; $2 ids; $3 channel; $4 whether to notify.
-- Rows: one per id that was redriven (holder null) or whose dedupe key another job holds (holder its id); woken.
-- Locks: the job rows.
-- Safe because: a rival waits for the row and then finds it no longer dead.
with moved as (
  update {schema}.job as j set
    state = 0, seq = nextval('{schema}.job_seq'), fence = nextval('{schema}.job_seq'), due_at = statement_timestamp(),
    dead_at = null, unknown_since = null, attempt = 0, lost_claims = 0, interruptions = 0, redrives = redrives + 1,
    backed_off = false
  where j.id = any($2::uuid[])
    and j.queue = $1
    and j.state = 2
    and not exists (
      select from {schema}.dedupe as d
      where d.queue = j.queue and d.key = j.dedupe_key and d.until > statement_timestamp() and d.job_id <> j.id
    )
  returning j.id, j.seq, j.fence, j.priority, j.due_at
),
tickets as (
  insert into {schema}.ticket (queue, priority, seq, fence, ready_at, ids)
  select $1, priority, seq, fence, due_at, array[id] from moved
),
told as materialized (
  select pg_notify($3, $1)
  where $4 and exists (select from moved) and exists (
    select from {schema}.idle_mark as m where m.queue = $1 and until > statement_timestamp()
  )
)
select id::text as id, null as holder, (select count(*)::int from told) as woken from moved
union all
select j.id::text, d.job_id::text, 0
from {schema}.job as j
join {schema}.dedupe as d on d.queue = j.queue and d.key = j.dedupe_key and d.until > statement_timestamp() and d.job_id <> j.id
where j.id = any($2::uuid[]) and j.queue = $1 and j.state = 2
