-- Completes leases and claims ready jobs, in one statement: the hot path. Either half may be empty.
-- Inputs: $1 ids, sorted; $2 fences and $3 positions in $4, parallel to $1; $4 nonces of the leases; $5 nonces of claims that
--   have nothing left; $6 queue; $7 how many to claim; $8 lease in ms; $9 nonce of the new claim; $10 floor of each priority.
-- Rows: one: completed (count), completed_ids (only when fewer than asked), jobs (one JSON text or null), paused, replay.
-- Locks: job rows, ticket rows with skip locked, claim rows that hold nothing any more.
-- Safe because: a job row is deleted only while its fence is the one leased and its claim lives, and whoever ends a claim
--   otherwise changes the fence of the same row first, so the later of the two finds nothing. A ticket can be deleted once.
--   width_bucket is a binary search in sorted ids (and in the sorted fences of a claim): it pairs every row with its own fence
--   and nonce, and the nonce with what it leased, without a join. A claim row is removed only while it lives, together with
--   its last jobs: one that has ended still has to give them back.
with alive as materialized (
  -- Taken out of line storage once, here, and not once a job.
  select nonce, fences || '{}'::bigint[] as fences from {schema}.claim
  where nonce = any($4::uuid[]) and until > statement_timestamp()
),
done as (
  delete from {schema}.job
  where id = any($1::uuid[])
    and state = 0
    and fence = ($2::bigint[])[width_bucket(id, $1::uuid[])]
    and (
      select count(*) from alive
      where nonce = ($4::uuid[])[($3::int[])[width_bucket(id, $1::uuid[])]]
        and fences[width_bucket(fence, fences)] = fence
    ) = 1
  returning id
),
ended as (
  delete from {schema}.claim where nonce = any($5::uuid[]) and until > statement_timestamp()
),
gate as materialized (
  select exists(select from {schema}.paused where queue = $6) as paused,
         exists(select from {schema}.claim where nonce = $9::uuid) as replay
),
taken as (
  delete from {schema}.ticket
  where ctid = any(array(
    select place from unnest($10::bigint[]) with ordinality as level (floor, number)
    cross join lateral (
      select ctid as place from {schema}.ticket
      where queue = $6 and priority = number - 1 and seq > floor
      order by seq limit $7 for update skip locked
    ) as ready
    where (select not (paused or replay) from gate)
    limit $7
  ))
  returning id, fence
),
leased as (
  insert into {schema}.claim (nonce, until, queue, ids, fences)
  select $9::uuid, statement_timestamp() + $8 * interval '1 ms', $6, i, f
  from (select array_agg(id order by fence) as i, array_agg(fence order by fence) as f from taken) as t
  where i is not null
)
select
  (select count(*)::int from done) as completed,
  case when (select count(*) from done) < cardinality($1::uuid[]) then array(select id::text from done) end as completed_ids,
  (
    select '[' || string_agg(
      format(
        '["%s",%s,%s,%s,"%s",%s,%s,%s,%s]',
        id, fence, seq, priority, type, date_part('epoch', statement_timestamp() - due_at),
        case when deliveries = 0 then '0' else
          json_build_array(
            attempt, deliveries, lost_claims, interruptions, redrives, backed_off,
            date_part('epoch', statement_timestamp() - unknown_since)
          )::text
        end,
        case when headers is null and idempotency_key is null and max_attempts is null and expires_at is null then '0' else
          json_build_array(
            headers, idempotency_key, max_attempts, date_part('epoch', expires_at - statement_timestamp())
          )::text
        end,
        payload
      ),
      ',') || ']'
    from {schema}.job
    where id = any(array(select id from taken))
  ) as jobs,
  (select paused from gate) as paused,
  (select replay from gate) as replay
