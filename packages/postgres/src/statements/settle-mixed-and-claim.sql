-- Ends leases in every way and claims ready jobs, in one statement. As settle-and-claim.sql, which is the text for batches
-- of nothing but completions; two texts keep the plan of the hot one small.
-- Inputs: $1 to $10 as there; parallel to $1: $11 what becomes of the job (-2 completed, -1 cancelled, 0 ready, 1 scheduled,
--   2 dead), $12 delays in ms, $13 attempts charged, $14 reasons of a release (0 unstarted, 1 stop, 2 unknown-type,
--   3 loss-backoff, 4 snooze; null: no release), $15 errors as JSON text or null; $16 how long records of completed jobs are
--   kept, in ms (0: none); $17 channel; $18 whether to notify; $19 most entries of a history (the first and the last ones).
-- Rows: as there; completed and completed_ids count every ended lease.
-- Locks: as there.
-- Safe because: as there. Every end but a completion gives the job a new fence, so a second settlement finds nothing.
--   A job handed back without delay keeps its place (seq) and gets a ticket in this very statement.
with alive as materialized (
  -- Taken out of line storage once, here, and not once a job.
  select nonce, fences || '{}'::bigint[] as fences from {schema}.claim
  where nonce = any($4::uuid[]) and until > statement_timestamp()
),
done as (
  delete from {schema}.job
  where id = any($1::uuid[])
    and ($11::int[])[width_bucket(id, $1::uuid[])] < 0
    and state = 0
    and fence = ($2::bigint[])[width_bucket(id, $1::uuid[])]
    and (
      select count(*) from alive
      where nonce = ($4::uuid[])[($3::int[])[width_bucket(id, $1::uuid[])]]
        and fences[width_bucket(fence, fences)] = fence
    ) = 1
  returning *
),
kept as (
  insert into {schema}.completed (
    id, finished_at, created_at, attempt, deliveries, lost_claims, interruptions, redrives, max_attempts, priority, cancelled,
    queue, type, idempotency_key, dedupe_key, history, headers, payload
  )
  select id, statement_timestamp(), created_at, attempt + 1, deliveries + 1, 0, interruptions, redrives, max_attempts,
    priority, ($11::int[])[width_bucket(id, $1::uuid[])] = -1, queue, type, idempotency_key, dedupe_key, history, headers, payload
  from done
  where $16::bigint > 0
  on conflict (id) do update set
    finished_at = excluded.finished_at, created_at = excluded.created_at, attempt = excluded.attempt,
    deliveries = excluded.deliveries, lost_claims = excluded.lost_claims, interruptions = excluded.interruptions,
    redrives = excluded.redrives, max_attempts = excluded.max_attempts, priority = excluded.priority,
    cancelled = excluded.cancelled, queue = excluded.queue, type = excluded.type,
    idempotency_key = excluded.idempotency_key, dedupe_key = excluded.dedupe_key, history = excluded.history,
    headers = excluded.headers, payload = excluded.payload
),
put_back as (
  update {schema}.job as j set
    fence = nextval('{schema}.job_seq'),
    state = ($11::int[])[width_bucket(j.id, $1::uuid[])],
    due_at = statement_timestamp() + ($12::bigint[])[width_bucket(j.id, $1::uuid[])] * interval '1 ms',
    dead_at = case ($11::int[])[width_bucket(j.id, $1::uuid[])] when 2 then statement_timestamp() end,
    attempt = j.attempt + ($13::int[])[width_bucket(j.id, $1::uuid[])],
    deliveries = j.deliveries + 1,
    lost_claims = case ($13::int[])[width_bucket(j.id, $1::uuid[])] when 0 then j.lost_claims else 0 end,
    backed_off = ($13::int[])[width_bucket(j.id, $1::uuid[])] = 0
      and (j.backed_off or ($14::int[])[width_bucket(j.id, $1::uuid[])] = 3),
    interruptions = j.interruptions + case ($14::int[])[width_bucket(j.id, $1::uuid[])] when 1 then 1 else 0 end,
    unknown_since = case ($14::int[])[width_bucket(j.id, $1::uuid[])]
      when 0 then j.unknown_since
      when 2 then coalesce(j.unknown_since, statement_timestamp())
    end,
    history = case
      when ($15::text[])[width_bucket(j.id, $1::uuid[])] is null then j.history
      else
        case when cardinality(j.history) >= $19::int
          then j.history[1:1] || j.history[cardinality(j.history) - $19::int + 3:]
          else coalesce(j.history, '{}')
        end
        || ('{"at":"' || to_char(statement_timestamp() at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') || '","error":'
        || ($15::text[])[width_bucket(j.id, $1::uuid[])] || '}')
    end
  where j.id = any($1::uuid[])
    and ($11::int[])[width_bucket(j.id, $1::uuid[])] >= 0
    and j.state = 0
    and j.fence = ($2::bigint[])[width_bucket(j.id, $1::uuid[])]
    and (
      select count(*) from alive
      where nonce = ($4::uuid[])[($3::int[])[width_bucket(j.id, $1::uuid[])]]
        and fences[width_bucket(j.fence, fences)] = j.fence
    ) = 1
  returning j.id, j.state, j.queue, j.priority, j.seq, j.fence, j.due_at
),
tickets as (
  insert into {schema}.ticket (queue, priority, seq, fence, id, ready_at)
  select queue, priority, seq, fence, id, due_at from put_back where state = 0
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
  (select count(*)::int from done) + (select count(*)::int from put_back) as completed,
  case when (select count(*) from done) + (select count(*) from put_back) < cardinality($1::uuid[])
    then array(select id::text from done union all select id::text from put_back)
  end as completed_ids,
  (
    select count(pg_notify($17, q.queue)) from (select distinct queue from put_back where state = 0) as q
    where $18 and exists (select from {schema}.idle where idle.queue = q.queue and until > statement_timestamp())
  ) as woken,
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
