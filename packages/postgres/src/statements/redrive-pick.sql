-- Picks dead letters for a redrive: first those that can go, oldest first.
-- Inputs: $1 queue; $2 type or null; $3 how many.
-- Rows: ids.
-- Locks: none; the redrive itself judges each row again.
with free as materialized (
  select id, dead_at from {schema}.job as j
  where queue = $1
    and state = 2
    and ($2::text is null or type = $2)
    and not exists (
      select from {schema}.dedupe as d
      where d.queue = j.queue and d.key = j.dedupe_key and d.until > statement_timestamp() and d.job_id <> j.id
    )
  order by dead_at, id
  limit $3
),
taken as materialized (
  select id, dead_at from {schema}.job as j
  where queue = $1
    and state = 2
    and ($2::text is null or type = $2)
    and dedupe_key is not null
    and exists (
      select from {schema}.dedupe as d
      where d.queue = j.queue and d.key = j.dedupe_key and d.until > statement_timestamp() and d.job_id <> j.id
    )
  order by dead_at, id
  limit (select $3::bigint - count(*) from free)
)
select id::text as id from free
union all
select id::text from taken
