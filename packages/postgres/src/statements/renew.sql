-- Extends leases, counted from now. A claim is renewed as a whole; where only some of its jobs are asked for, it is split.
-- Inputs: $1 ids, sorted; $2 fences and $3 positions in $4, parallel to $1; $4 nonces; $5 lease in ms.
-- Rows: the fences whose lease was extended.
-- Locks: the claim rows of the nonces, in order.
-- Safe because: an ended claim is not found (its end is judged again on the row as locked), a job that ended otherwise has
--   another fence or is gone. Expiry and renewal meet on the claim row; the later one finds it gone or extended.
with line as materialized (
  select nonce, part, queue, ids, fences from {schema}.claim
  where nonce = any($4::uuid[]) and until > statement_timestamp()
  order by nonce, part
  for update
),
member as materialized (
  select nonce, part, unnest(ids) as id, unnest(fences) as fence from line
),
found as materialized (
  select array_agg(id order by id) as ids, array_agg(fence order by id) as fences
  from {schema}.job
  where id = any(array(select id from member)) and state = 0
),
held as materialized (
  select nonce, part, id, fence,
    coalesce(
      ($2::bigint[])[width_bucket(id, $1::uuid[])] = fence
        and ($4::uuid[])[($3::int[])[width_bucket(id, $1::uuid[])]] = nonce,
      false
    ) as asked
  from member
  where fence = ((select fences from found))[width_bucket(id, (select ids from found))]
),
verdict as materialized (
  select nonce, part, bool_and(asked) as whole,
    array_agg(id order by fence) filter (where asked) as asked_ids, array_agg(fence order by fence) filter (where asked) as asked_fences,
    array_agg(id order by fence) filter (where not asked) as other_ids, array_agg(fence order by fence) filter (where not asked) as other_fences
  from held
  group by nonce, part
  having bool_or(asked)
),
extended as (
  update {schema}.claim as c set
    until = case when v.whole then statement_timestamp() + $5::bigint * interval '1 ms' else c.until end,
    ids = case when v.whole then c.ids else v.other_ids end,
    fences = case when v.whole then c.fences else v.other_fences end
  from verdict as v
  where c.nonce = v.nonce and c.part = v.part
),
cut_off as (
  insert into {schema}.claim (nonce, part, until, queue, ids, fences)
  select v.nonce, nextval('{schema}.job_seq'), statement_timestamp() + $5::bigint * interval '1 ms', line.queue, v.asked_ids, v.asked_fences
  from verdict as v
  join line on line.nonce = v.nonce and line.part = v.part
  where not v.whole
)
select fence from held where asked
