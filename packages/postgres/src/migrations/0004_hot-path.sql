-- The hot path as functions: enqueue, claim, the ends of leases, and what a waiting worker asks for.
-- Why functions: their statements are planned once a session instead of at every call (a quarter of the server's time for a
--   batch of 500, two thirds for a single job), also behind a pooler, where a client can keep no prepared statement; and their
--   plans cannot be led astray by statistics. A queue is full, empty and full again between two looks of autovacuum, and a
--   plan made for a nearly empty table sorts a full one at every claim. So each function turns off, for itself alone, every
--   kind of plan but walks along an index.
-- Arrays are read as `(select array)` where a function looks into them for every row: as a parameter they would be copied
--   as a whole each time.
-- Every function runs with the rights of its caller.

-- Claims ready jobs.
-- Inputs: queue; most jobs to claim; lease in ms; nonce of the new claim; floor of each priority; whether to wait for a moment
--   where all that is ready stands in tickets which others are taking jobs from.
-- Answer: jobs (one JSON text: an array for each job, or null), reached (per priority the place of the last ticket that was taken),
--   paused, replay (the nonce has a claim already; nothing was claimed).
-- Locks: ticket rows with skip locked; where it may wait and got none, for one.
-- Safe because: a ticket can be deleted once, and its delete, the ticket of the jobs it held beyond those asked for and the row of
--   the claim are one statement.
create function {schema}.claim_jobs(
  in_queue text, most int, lease_ms bigint, in_nonce uuid, floors bigint[], may_wait boolean,
  out jobs text, out reached json, out paused boolean, out replay boolean
) language plpgsql
set plan_cache_mode = force_generic_plan
set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off
set enable_hashjoin = off set enable_mergejoin = off set jit = off
as $function$
#variable_conflict use_column
declare
  looks int := 0;
begin
  loop
    with gate as materialized (
      select exists(select from {schema}.paused where queue = in_queue) as paused,
             exists(select from {schema}.claim where nonce = in_nonce) as replay
    ),
    picked as materialized (
      -- The limits ask for one row after the other, so no ticket is locked beyond the one that fills the claim.
      select place, id, fence
      from unnest(floors) with ordinality as level (floor, number)
      cross join lateral (
        select place, unnest(ids) as id, generate_series(fence, fence + cardinality(ids) - 1) as fence
        from (
          select ctid as place, fence, ids from {schema}.ticket
          where queue = in_queue and priority = number - 1 and seq > floor
          order by seq for update skip locked
        ) as line
        limit most
      ) as ready
      where (select not (paused or replay) from gate)
      limit most
    ),
    taken as (
      delete from {schema}.ticket where ctid = any(array(select place from picked))
      returning seq, fence, ready_at, priority, ids
    ),
    rest as (
      insert into {schema}.ticket (queue, priority, seq, fence, ready_at, ids)
      select in_queue, priority, seq + cardinality(ids) - jobs, fence + cardinality(ids) - jobs, ready_at,
        ids[cardinality(ids) - jobs + 1:]
      from (select * from taken order by priority desc, seq desc limit 1) as last
      cross join (
        select (select sum(cardinality(ids)) from taken)::int - (select count(*) from picked)::int as jobs
      ) as over
      where jobs > 0
    ),
    leased as (
      insert into {schema}.claim (nonce, until, queue, ids, fences)
      select in_nonce, statement_timestamp() + lease_ms * interval '1 ms', in_queue, i, f
      from (
        select array_agg(id) as i, array_agg(fence) as f from (select id, fence from picked order by fence) as sorted
      ) as t
      where i is not null
    )
    select
      (
        select '[' || string_agg(
          '["' || id || '",' || fence || ',' || seq || ',' || priority || ',"' || type || '",'
            || date_part('epoch', statement_timestamp() - due_at)
            || case when deliveries = 0 then ',0,' else ',' ||
              json_build_array(
                attempt, deliveries, lost_claims, interruptions, redrives, backed_off,
                date_part('epoch', statement_timestamp() - unknown_since)
              ) || ','
            end
            || case when headers is null and idempotency_key is null and max_attempts is null and expires_at is null then '0,' else
              json_build_array(
                headers, idempotency_key, max_attempts, date_part('epoch', expires_at - statement_timestamp())
              ) || ','
            end
            || payload,
          '],') || ']]'
        from {schema}.job
        where id = any(array(select id from picked))
      ),
      (select json_object_agg(priority, seq) from (select priority, max(seq) as seq from taken group by priority) as level),
      (select paused from gate),
      (select replay from gate)
    into jobs, reached, paused, replay;
    exit when jobs is not null or paused or replay or most < 1 or looks = 10 or not may_wait;
    -- Whoever takes a part of a ticket puts the rest back with its commit, which only the next look can see. Waiting for it takes
    -- no more than that commit, and as nothing is locked here nobody can wait for this call meanwhile.
    exit when not exists(
      select from unnest(floors) with ordinality as level (floor, number)
      cross join lateral (
        select from {schema}.ticket
        where queue = in_queue and priority = number - 1 and seq > floor and cardinality(ids) > 1
        limit 1
      ) as shared
    );
    perform from unnest(floors) with ordinality as level (floor, number)
    cross join lateral (
      select from {schema}.ticket
      where queue = in_queue and priority = number - 1 and seq > floor and cardinality(ids) > 1
      order by seq limit 1 for update
    ) as shared;
    looks := looks + 1;
  end loop;
end
$function$;

-- The jobs among those given whose lease lives: their claim has not ended and leased them with this fence.
-- Inputs: fences, sorted; ids and positions in nonces, parallel to them; nonces of the leases.
-- Answer: ids, and fences, sorted; null where none lives. Not parallel.
-- Locks: none. What was read may end before it is used; the fence on the job row then differs, and is judged again there.
create function {schema}.living_leases(
  in_ids uuid[], in_fences bigint[], places int[], nonces uuid[],
  out ids uuid[], out fences bigint[]
) language plpgsql
as $function$
#variable_conflict use_column
declare
  are_runs boolean;
begin
  -- Nearly always what is given of a claim is a run of it. Then three comparisons of arrays say of all at once what is asked job by
  -- job below, for a tenth of the time: that these are its jobs, with these fences, and were given with its nonce.
  select coalesce(bool_and(
      in_fences[first:last] = c.fences[at:at + last - first]
      and in_ids[first:last] = c.ids[at:at + last - first]
      and places[first:last] = array_fill(place::int, array[last - first + 1])
    ), false) and coalesce(sum(last - first + 1), 0) = cardinality(in_fences)
  into are_runs
  from unnest(nonces) with ordinality as given (given_nonce, place)
  cross join lateral (
    select width_bucket(place::int - 1, places) + 1 as first, width_bucket(place::int, places) as last
  ) as run
  join {schema}.claim as c on c.nonce = given_nonce and c.until > statement_timestamp()
  cross join lateral (select width_bucket(in_fences[first], c.fences) as at) as found
  where first <= last;
  if are_runs then
    ids := in_ids;
    fences := in_fences;
    return;
  end if;
  select array_agg(member_id), array_agg(member_fence) into ids, fences
  from unnest(nonces) with ordinality as given (given_nonce, place)
  join {schema}.claim as c on c.nonce = given_nonce and c.until > statement_timestamp()
  cross join lateral unnest(c.ids, c.fences) as member (member_id, member_fence)
  -- A binary search in sorted values, which pairs without a join.
  where ((select in_fences))[width_bucket(member_fence, (select in_fences))] = member_fence
    and ((select in_ids))[width_bucket(member_fence, (select in_fences))] = member_id
    and ((select places))[width_bucket(member_fence, (select in_fences))] = place;
  if cardinality(fences) = cardinality(in_fences) then
    fences := in_fences;
  else
    fences := array(select unnest(fences) as fence order by fence);
  end if;
end
$function$;

-- Completes leased jobs.
-- Inputs: fences, sorted; ids and positions in nonces, parallel to them; nonces of the leases; nonces of claims that have
--   nothing left.
-- Answer: how many were completed; their ids, only where those are fewer than asked.
-- Locks: job rows, and claim rows that hold nothing any more.
-- Safe because: a job row is deleted only while its fence is the one leased and its claim lives, and whoever ends a claim
--   otherwise changes the fence of the same row first, so the later of the two finds nothing. A claim row is removed only while
--   it lives and when all that was asked was done: one that has ended, or of which a lease was given with a wrong id, still has
--   to give its jobs back.
create function {schema}.complete_jobs(
  in_ids uuid[], in_fences bigint[], places int[], nonces uuid[], ended_nonces uuid[],
  out completed int, out completed_ids text[]
) language plpgsql
set plan_cache_mode = force_generic_plan
set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off
set enable_hashjoin = off set enable_mergejoin = off set jit = off
as $function$
#variable_conflict use_column
declare
  live_ids uuid[];
  live_fences bigint[];
  done_ids uuid[];
begin
  select ids, fences into live_ids, live_fences from {schema}.living_leases(in_ids, in_fences, places, nonces);
  with done as (
    delete from {schema}.job
    where id = any(live_ids)
      and state = 0
      and ((select live_fences))[width_bucket(fence, (select live_fences))] = fence
    returning id
  )
  select array_agg(id) into done_ids from done;
  completed := coalesce(cardinality(done_ids), 0);
  if completed < cardinality(in_ids) then
    completed_ids := coalesce(done_ids::text[], '{}');
  elsif cardinality(ended_nonces) > 0 then
    -- Written so that the index on the end of claims is no choice: it would be read as a whole.
    delete from {schema}.claim where nonce = any(ended_nonces) and (until > statement_timestamp()) is true;
  end if;
end
$function$;

-- Ends leases in every way. As complete_jobs, which is for batches of nothing but completions; two keep the plan of the hot
-- one small.
-- Inputs: as there; parallel to the fences: kinds (-2 completed, -1 cancelled, 0 ready, 1 scheduled, 2 dead), delays in ms,
--   charges (attempts), reasons of a release (0 unstarted, 1 stop, 2 unknown-type, 3 loss-backoff, 4 snooze; null: no release),
--   errors as JSON text or null; then how long records of completed jobs are kept, in ms (0: none); the channel; whether to
--   notify; most entries of a history (the first and the last ones).
-- Answer: as there, of every ended lease.
-- Locks: as there.
-- Safe because: as there. Every end but a completion gives the job a new fence, so a second settlement finds nothing.
--   A job handed back without delay keeps its place (seq) and gets a ticket in the same statement.
create function {schema}.settle_jobs(
  in_ids uuid[], in_fences bigint[], places int[], nonces uuid[], ended_nonces uuid[],
  kinds int[], delays bigint[], charges int[], reasons int[], errors text[],
  keep_ms bigint, channel text, may_notify boolean, most_history int,
  out completed int, out completed_ids text[]
) language plpgsql
set plan_cache_mode = force_generic_plan
set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off
set enable_hashjoin = off set enable_mergejoin = off set jit = off
as $function$
#variable_conflict use_column
declare
  live_ids uuid[];
  live_fences bigint[];
  done_ids uuid[];
  woken bigint;
begin
  select ids, fences into live_ids, live_fences from {schema}.living_leases(in_ids, in_fences, places, nonces);
  with done as (
    delete from {schema}.job
    where id = any(live_ids)
      and state = 0
      and ((select live_fences))[width_bucket(fence, (select live_fences))] = fence
      and ((select kinds))[width_bucket(fence, (select in_fences))] < 0
    returning *
  ),
  kept as (
    insert into {schema}.completed (
      id, finished_at, created_at, attempt, deliveries, lost_claims, interruptions, redrives, max_attempts, priority, cancelled,
      queue, type, idempotency_key, dedupe_key, history, headers, payload
    )
    select id, statement_timestamp(), created_at, attempt + 1, deliveries + 1, 0, interruptions, redrives, max_attempts,
      priority, ((select kinds))[width_bucket(fence, (select in_fences))] = -1,
      queue, type, idempotency_key, dedupe_key, history, headers, payload
    from done
    where keep_ms > 0
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
      state = ((select kinds))[width_bucket(j.fence, (select in_fences))],
      due_at = statement_timestamp() + ((select delays))[width_bucket(j.fence, (select in_fences))] * interval '1 ms',
      dead_at = case ((select kinds))[width_bucket(j.fence, (select in_fences))] when 2 then statement_timestamp() end,
      attempt = j.attempt + ((select charges))[width_bucket(j.fence, (select in_fences))],
      deliveries = j.deliveries + 1,
      lost_claims = case ((select charges))[width_bucket(j.fence, (select in_fences))] when 0 then j.lost_claims else 0 end,
      backed_off = ((select charges))[width_bucket(j.fence, (select in_fences))] = 0
        and (j.backed_off or ((select reasons))[width_bucket(j.fence, (select in_fences))] = 3),
      interruptions = j.interruptions
        + case ((select reasons))[width_bucket(j.fence, (select in_fences))] when 1 then 1 else 0 end,
      unknown_since = case ((select reasons))[width_bucket(j.fence, (select in_fences))]
        when 0 then j.unknown_since
        when 2 then coalesce(j.unknown_since, statement_timestamp())
      end,
      history = case
        when ((select errors))[width_bucket(j.fence, (select in_fences))] is null then j.history
        else
          case when cardinality(j.history) >= most_history
            then j.history[1:1] || j.history[cardinality(j.history) - most_history + 3:]
            else coalesce(j.history, '{}')
          end
          || ('{"at":"' || to_char(statement_timestamp() at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') || '","error":'
          || ((select errors))[width_bucket(j.fence, (select in_fences))] || '}')
      end
    where j.id = any(live_ids)
      and j.state = 0
      and ((select live_fences))[width_bucket(j.fence, (select live_fences))] = j.fence
      and ((select kinds))[width_bucket(j.fence, (select in_fences))] >= 0
    returning j.id, j.state, j.queue, j.priority, j.seq, j.fence, j.due_at
  ),
  tickets as (
    insert into {schema}.ticket (queue, priority, seq, fence, ready_at, ids)
    select queue, priority, seq, fence, due_at, array[id] from put_back where state = 0
  )
  select
    (select array_agg(id) from (select id from done union all select id from put_back) as either),
    (
      select count(pg_notify(channel, q.queue)) from (select distinct queue from put_back where state = 0) as q
      where may_notify
        and exists (select from {schema}.idle_mark as m where m.queue = q.queue and m.until > statement_timestamp())
    )
  into done_ids, woken;
  completed := coalesce(cardinality(done_ids), 0);
  if completed < cardinality(in_ids) then
    completed_ids := coalesce(done_ids::text[], '{}');
  elsif cardinality(ended_nonces) > 0 then
    delete from {schema}.claim where nonce = any(ended_nonces) and (until > statement_timestamp()) is true;
  end if;
end
$function$;

-- Claims, then completes: one call, one transaction. The claim comes first, so that it never brings what the same call gives back.
create function {schema}.complete_and_claim(
  in_ids uuid[], in_fences bigint[], places int[], nonces uuid[], ended_nonces uuid[],
  in_queue text, most int, lease_ms bigint, in_nonce uuid, floors bigint[],
  out completed int, out completed_ids text[], out jobs text, out reached json, out paused boolean, out replay boolean
) language plpgsql
as $function$
begin
  select c.jobs, c.reached, c.paused, c.replay into jobs, reached, paused, replay
  from {schema}.claim_jobs(in_queue, most, lease_ms, in_nonce, floors, false) as c;
  select d.completed, d.completed_ids into completed, completed_ids
  from {schema}.complete_jobs(in_ids, in_fences, places, nonces, ended_nonces) as d;
end
$function$;

-- Claims, then ends leases in every way: one call, one transaction, in this order for the same reason.
create function {schema}.settle_and_claim(
  in_ids uuid[], in_fences bigint[], places int[], nonces uuid[], ended_nonces uuid[],
  kinds int[], delays bigint[], charges int[], reasons int[], errors text[],
  keep_ms bigint, channel text, may_notify boolean, most_history int,
  in_queue text, most int, lease_ms bigint, in_nonce uuid, floors bigint[],
  out completed int, out completed_ids text[], out jobs text, out reached json, out paused boolean, out replay boolean
) language plpgsql
as $function$
begin
  select c.jobs, c.reached, c.paused, c.replay into jobs, reached, paused, replay
  from {schema}.claim_jobs(in_queue, most, lease_ms, in_nonce, floors, false) as c;
  select d.completed, d.completed_ids into completed, completed_ids
  from {schema}.settle_jobs(
    in_ids, in_fences, places, nonces, ended_nonces, kinds, delays, charges, reasons, errors,
    keep_ms, channel, may_notify, most_history
  ) as d;
end
$function$;

-- Stores jobs without dedupe keys.
-- Inputs, one array per field, parallel: ids, sorted, queues, types, priorities, payloads (as one array of JSON), delays in ms, and,
--   null where no job has one: headers as JSON text, idempotency keys, times to expiry in ms, most attempts; then the channel, whether to notify,
--   the delay in ms up to which a waiting worker wants to know at once, and the places in which the jobs were given, null when
--   that is the order of the ids.
-- Answer: stored (count), stored_ids (only when fewer than asked), woken.
-- Locks: the new rows, in the order of their ids, so that two batches with the same ids do not wait for each other; marks of
--   idle workers with skip locked, see take_mark.
-- Safe because: an id is the primary key. The statement's own time is used, so it may run in a long transaction.
create function {schema}.enqueue_jobs(
  in_ids uuid[], queues text[], types text[], priorities smallint[], payloads json, delays bigint[],
  all_headers text[], idempotency_keys text[], expiries bigint[], limits int[], channel text, may_notify boolean,
  hint_within_ms bigint, places int[],
  out stored int, out stored_ids text[], out woken int
) language plpgsql
set plan_cache_mode = force_generic_plan
set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off
set enable_hashjoin = off set enable_mergejoin = off set jit = off
as $function$
#variable_conflict use_column
begin
  with number as materialized (
    select array_agg(nextval('{schema}.job_seq')) as numbers from generate_series(1, cardinality(in_ids), 32)
  ),
  item as materialized (
    select id, queue, type, priority, payload, delay_ms, headers, idempotency_key, expires_in_ms, max_attempts,
      (select numbers from number)[(coalesce(places[nth], nth) + 31) / 32] + (coalesce(places[nth], nth) - 1) % 32 as seq
    from rows from (
      unnest(in_ids, queues, types, priorities, delays, all_headers, idempotency_keys, expiries, limits),
      json_array_elements(payloads)
    ) with ordinality as given (
      id, queue, type, priority, delay_ms, headers, idempotency_key, expires_in_ms, max_attempts, payload, nth
    )
  ),
  stored as (
    insert into {schema}.job (
      id, seq, fence, created_at, due_at, expires_at, max_attempts, priority, state, queue, type, idempotency_key, headers, payload
    )
    select id, seq, seq, statement_timestamp(), statement_timestamp() + delay_ms * interval '1 ms',
      statement_timestamp() + expires_in_ms * interval '1 ms', max_attempts, priority,
      case when delay_ms > 0 then 1 else 0 end, queue, type, idempotency_key, headers::json, payload
    from item
    on conflict (id) do nothing
    returning id, queue, priority, seq, due_at, state
  ),
  tickets as (
    -- One for each run of numbers without a gap.
    insert into {schema}.ticket (queue, priority, seq, fence, ready_at, ids)
    select queue, priority, min(seq), min(seq), statement_timestamp(), array_agg(id order by seq)
    from (
      select id, queue, priority, seq, seq - row_number() over (partition by queue, priority order by seq) as run
      from stored where state = 0
    ) as line
    group by queue, priority, run, (seq - 1) / 32
  )
  select
    (select count(*)::int from stored) as stored,
    case when (select count(*) from stored) < cardinality(in_ids) then array(select id::text from stored) end as stored_ids,
    (
      select count(pg_notify(channel, q.queue))::int
      from (
        select distinct queue from stored where due_at <= statement_timestamp() + hint_within_ms * interval '1 ms'
      ) as q
      where may_notify
        -- Joined by `and`, the planner would take the mark of every queue first.
        and case when exists (select from {schema}.idle_mark as m where m.queue = q.queue and m.until > statement_timestamp())
          then {schema}.take_mark(q.queue) else false end
    ) as woken
  into stored, stored_ids, woken;
end
$function$;

-- Stores jobs whose ids are new, as nearly all are: a fifth cheaper than asking at each row whether its id is stored already.
-- Inputs: as there.
-- Answer: stored (count: all), woken. Where an id is stored already it fails as a whole (23505): the caller then asks
--   enqueue_jobs, so this is not for the transactions of an application, which a failure would break.
-- Locks and safety: as there.
create function {schema}.enqueue_new_jobs(
  in_ids uuid[], queues text[], types text[], priorities smallint[], payloads json, delays bigint[],
  all_headers text[], idempotency_keys text[], expiries bigint[], limits int[], channel text, may_notify boolean,
  hint_within_ms bigint, places int[],
  out stored int, out woken int
) language plpgsql
set plan_cache_mode = force_generic_plan
set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off
set enable_hashjoin = off set enable_mergejoin = off set jit = off
as $function$
#variable_conflict use_column
declare
  numbers constant bigint[] := array(select nextval('{schema}.job_seq') from generate_series(1, cardinality(in_ids), 32));
begin
  insert into {schema}.job (
    id, seq, fence, created_at, due_at, expires_at, max_attempts, priority, state, queue, type, idempotency_key, headers, payload
  )
  select id, numbers[(place + 31) / 32] + (place - 1) % 32, numbers[(place + 31) / 32] + (place - 1) % 32,
    statement_timestamp(), statement_timestamp() + delay_ms * interval '1 ms',
    statement_timestamp() + expires_in_ms * interval '1 ms', max_attempts, priority,
    case when delay_ms > 0 then 1 else 0 end, queue, type, idempotency_key, headers::json, payload
  from (
    select id, queue, type, priority, payload, delay_ms, headers, idempotency_key, expires_in_ms, max_attempts,
      coalesce(places[nth], nth) as place
    from rows from (
      unnest(in_ids, queues, types, priorities, delays, all_headers, idempotency_keys, expiries, limits),
      json_array_elements(payloads)
    ) with ordinality as given (
      id, queue, type, priority, delay_ms, headers, idempotency_key, expires_in_ms, max_attempts, payload, nth
    )
  ) as item;
  if places is null and 0 = all(delays) and queues[1] = all(queues) and priorities[1] = all(priorities) then
    insert into {schema}.ticket (queue, priority, seq, fence, ready_at, ids)
    select queues[1], priorities[1], number, number, statement_timestamp(), in_ids[32 * nth - 31:32 * nth]
    from unnest(numbers) with ordinality as given (number, nth);
  else
    -- One for each run of numbers without a gap.
    insert into {schema}.ticket (queue, priority, seq, fence, ready_at, ids)
    select queue, priority, min(seq), min(seq), statement_timestamp(), array_agg(id order by seq)
    from (
      select id, queue, priority, seq, seq - row_number() over (partition by queue, priority order by seq) as run
      from (
        select id, queue, priority, numbers[(coalesce(places[nth], nth) + 31) / 32] + (coalesce(places[nth], nth) - 1) % 32 as seq
        from unnest(in_ids, queues, priorities, delays) with ordinality as given (id, queue, priority, delay_ms, nth)
        where delay_ms <= 0
      ) as numbered
    ) as line
    group by queue, priority, run, (seq - 1) / 32;
  end if;
  stored := cardinality(in_ids);
  woken := 0;
  if may_notify then
    select count(pg_notify(channel, q.queue)) into woken
    from (
      select distinct queue from unnest(queues, delays) as given (queue, delay_ms) where delay_ms <= hint_within_ms
    ) as q
    -- Joined by `and`, the planner would take the mark of every queue first.
    where case when exists (select from {schema}.idle_mark as m where m.queue = q.queue and m.until > statement_timestamp())
      then {schema}.take_mark(q.queue) else false end;
  end if;
end
$function$;

-- Stores jobs whose ids are new and which differ in nothing but id and payload, as those of one kind do that nothing else is said of: for two
-- thirds of the time, since what is the same for all is neither sent, read nor paired with the rest.
-- Inputs: ids, ascending; queue, type, priority and limit of attempts (or null) of all; the payloads; the channel; whether to notify.
-- Answer and failure: as there.
-- Locks and safety: as there.
create function {schema}.enqueue_alike_jobs(
  in_ids uuid[], in_queue text, in_type text, in_priority smallint, in_max_attempts int, payloads json, channel text,
  may_notify boolean,
  out stored int, out woken int
) language plpgsql
set plan_cache_mode = force_generic_plan
set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off
set enable_hashjoin = off set enable_mergejoin = off set jit = off
as $function$
#variable_conflict use_column
declare
  numbers constant bigint[] := array(select nextval('{schema}.job_seq') from generate_series(1, cardinality(in_ids), 32));
begin
  insert into {schema}.job (id, seq, fence, created_at, due_at, max_attempts, priority, state, queue, type, payload)
  select id, numbers[(nth + 31) / 32] + (nth - 1) % 32, numbers[(nth + 31) / 32] + (nth - 1) % 32,
    statement_timestamp(), statement_timestamp(), in_max_attempts, in_priority, 0, in_queue, in_type, payload
  from rows from (unnest(in_ids), json_array_elements(payloads)) with ordinality as given (id, payload, nth);
  insert into {schema}.ticket (queue, priority, seq, fence, ready_at, ids)
  select in_queue, in_priority, number, number, statement_timestamp(), in_ids[32 * nth - 31:32 * nth]
  from unnest(numbers) with ordinality as given (number, nth);
  stored := cardinality(in_ids);
  woken := 0;
  if may_notify
    and exists (select from {schema}.idle_mark as m where m.queue = in_queue and m.until > statement_timestamp())
  then
    if {schema}.take_mark(in_queue) then
      perform pg_notify(channel, in_queue);
      woken := 1;
    end if;
  end if;
end
$function$;

-- Stores jobs of which some have a dedupe key: the first live record of a key wins.
-- Inputs: as there, then dedupe keys, null where a job has none, and their windows in ms.
-- Answer: as there. Who holds a key that was not won is asked afterwards: what a rival has just stored cannot be seen here.
-- Locks: the dedupe records, in order of queue and key, and the new rows, in the order of their ids; marks as there.
-- Safe because: the record is the primary key (queue, key); the loser of a race waits for the winner and then leaves it alone.
--   A job whose id is stored already does not take the key.
create function {schema}.enqueue_keyed_jobs(
  in_ids uuid[], queues text[], types text[], priorities smallint[], payloads json, delays bigint[],
  all_headers text[], idempotency_keys text[], expiries bigint[], limits int[], channel text, may_notify boolean,
  hint_within_ms bigint, places int[], dedupe_keys text[], windows bigint[],
  out stored int, out stored_ids text[], out woken int
) language plpgsql
set plan_cache_mode = force_generic_plan
set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off
set enable_hashjoin = off set enable_mergejoin = off set jit = off
as $function$
#variable_conflict use_column
begin
  with number as materialized (
    select array_agg(nextval('{schema}.job_seq')) as numbers from generate_series(1, cardinality(in_ids), 32)
  ),
  item as materialized (
    select id, queue, type, priority, payload, delay_ms, headers, idempotency_key, expires_in_ms, max_attempts,
      dedupe_key, window_ms,
      (select numbers from number)[(coalesce(places[nth], nth) + 31) / 32] + (coalesce(places[nth], nth) - 1) % 32 as seq
    from rows from (
      unnest(
        in_ids, queues, types, priorities, delays, all_headers, idempotency_keys, expiries, limits, dedupe_keys, windows
      ),
      json_array_elements(payloads)
    ) with ordinality as given (
      id, queue, type, priority, delay_ms, headers, idempotency_key, expires_in_ms, max_attempts, dedupe_key, window_ms, payload,
      nth
    )
  ),
  first as materialized (
    select distinct on (queue, dedupe_key) id, queue, dedupe_key, window_ms
    from item
    where dedupe_key is not null and not exists (select from {schema}.job where job.id = item.id)
    order by queue, dedupe_key, seq
  ),
  won as (
    insert into {schema}.dedupe as d (queue, key, job_id, until)
    select queue, dedupe_key, id, statement_timestamp() + window_ms * interval '1 ms' from first
    on conflict (queue, key) do update set job_id = excluded.job_id, until = excluded.until
      where d.until <= statement_timestamp()
    returning d.job_id
  ),
  stored as (
    insert into {schema}.job (
      id, seq, fence, created_at, due_at, expires_at, max_attempts, priority, state, queue, type, idempotency_key, dedupe_key, headers,
      payload
    )
    select id, seq, seq, statement_timestamp(), statement_timestamp() + delay_ms * interval '1 ms',
      statement_timestamp() + expires_in_ms * interval '1 ms', max_attempts, priority,
      case when delay_ms > 0 then 1 else 0 end, queue, type, idempotency_key, dedupe_key, headers::json, payload
    from item
    where dedupe_key is null or id = any(array(select job_id from won))
    on conflict (id) do nothing
    returning id, queue, priority, seq, due_at, state
  ),
  tickets as (
    -- One for each run of numbers without a gap.
    insert into {schema}.ticket (queue, priority, seq, fence, ready_at, ids)
    select queue, priority, min(seq), min(seq), statement_timestamp(), array_agg(id order by seq)
    from (
      select id, queue, priority, seq, seq - row_number() over (partition by queue, priority order by seq) as run
      from stored where state = 0
    ) as line
    group by queue, priority, run, (seq - 1) / 32
  )
  select
    (select count(*)::int from stored) as stored,
    case when (select count(*) from stored) < cardinality(in_ids) then array(select id::text from stored) end as stored_ids,
    (
      select count(pg_notify(channel, q.queue))::int
      from (
        select distinct queue from stored where due_at <= statement_timestamp() + hint_within_ms * interval '1 ms'
      ) as q
      where may_notify
        -- Joined by `and`, the planner would take the mark of every queue first.
        and case when exists (select from {schema}.idle_mark as m where m.queue = q.queue and m.until > statement_timestamp())
          then {schema}.take_mark(q.queue) else false end
    ) as woken
  into stored, stored_ids, woken;
end
$function$;

-- Ends expired claims of a queue, moves due jobs into line, and marks the queue as waited for. One bounded step.
-- Inputs: queue; most claims to end; how many jobs to take back (the claim that reaches it is the last) and most due jobs to
--   move; how long a mark of an idle worker lives, in ms (0: make none).
-- Answer: lost (jobs taken back from expired claims), claims (claims ended), moved (jobs that were due), ready (a ticket was
--   there before this step), paused, marked (a mark was there before this step), next_due_ms (until the next scheduled job is
--   due, or null).
-- Locks: expired claim rows and due job rows with skip locked, then the jobs of those claims.
-- Why a look first: nearly always there is neither an expired claim nor a due job, and the plan of the step costs a new session as much
--   as two claims.
-- Safe because: whoever deletes the claim row is the only one to take its jobs back, and only those that still have the fence
--   leased by it. A claim that is being renewed is locked and left alone; its end is judged again on the row as locked.
create function {schema}.tend_queue(
  in_queue text, most_claims int, most_jobs int, mark_ms bigint,
  out lost int, out claims int, out moved int, out ready boolean, out paused boolean, out marked boolean, out next_due_ms float8
) language plpgsql
set plan_cache_mode = force_generic_plan
set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off
set enable_hashjoin = off set enable_mergejoin = off set jit = off
as $function$
#variable_conflict use_column
declare
  has_ended boolean;
  has_due boolean;
  marked_until timestamptz;
begin
  select
    (select true from {schema}.ticket where queue = in_queue order by priority, seq limit 1) is not null,
    exists(select from {schema}.paused where queue = in_queue),
    exists(select from {schema}.claim where queue = in_queue and until <= statement_timestamp()),
    exists(select from {schema}.job where queue = in_queue and state = 1 and due_at <= statement_timestamp()),
    -- One that is being taken, maybe by a long transaction, wakes nobody any more.
    (select max(until) from {schema}.idle_mark where queue = in_queue and until > statement_timestamp() and xmax = 0),
    (
      select ceil(date_part('epoch', min(due_at) - statement_timestamp()) * 1000) from {schema}.job
      where queue = in_queue and state = 1 and due_at > statement_timestamp()
    )
  into ready, paused, has_ended, has_due, marked_until, next_due_ms;
  marked := marked_until is not null;
  if mark_ms > 0 and coalesce(marked_until < statement_timestamp() + mark_ms * interval '0.5 ms', true) then
    insert into {schema}.idle_mark (queue, until) values (in_queue, statement_timestamp() + mark_ms * interval '1 ms');
  end if;
  lost := 0;
  claims := 0;
  moved := 0;
  if not (has_ended or has_due) then return; end if;
  with ended as (
    delete from {schema}.claim
    where ctid = any(array(
      select place from (
        select place, sum(jobs) over (order by until rows unbounded preceding) - jobs as before
        from (
          select ctid as place, until, cardinality(ids) as jobs from {schema}.claim
          where queue = in_queue and until <= statement_timestamp()
          order by until limit most_claims for update skip locked
        ) as locked
      ) as counted
      where before < most_jobs
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
    where queue = in_queue and state = 1 and due_at <= statement_timestamp()
    order by due_at limit most_jobs
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
    insert into {schema}.ticket (queue, priority, seq, fence, ready_at, ids)
    select in_queue, priority, seq, fence, due_at, array[id] from taken_back
    union all
    select in_queue, priority, seq, fence, due_at, array[id] from moved
  )
  select
    (select count(*)::int from taken_back),
    (select count(*)::int from ended),
    (select count(*)::int from moved)
  into lost, claims, moved;
end
$function$;
