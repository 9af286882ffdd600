-- Enqueue for triggers, psql and other languages: what the client of TypeScript does, as a function. {schema} is the quoted schema.
-- Answers id and status: accepted, or duplicate with the id of the job that stands for it. Refuses by an error whose detail is
-- a code of Surety's error table. Runs in the caller's transaction and with the caller's rights: no commit, no job.
-- Locks: the dedupe record, the new rows, and the marks of idle workers with skip locked.
-- Safe because: as statements/enqueue-deduped.sql. Time is that of the call: a trigger may run long after its statement began.
-- Not checked, though a client cannot send it: names that an object holds twice, numbers beyond a double.
create function {schema}.enqueue(
  type text,
  payload text,
  queue text default null,
  inout id uuid default null,
  delay interval default null,
  run_at timestamptz default null,
  priority int default null,
  dedupe_key text default null,
  dedupe_window interval default null,
  headers jsonb default null,
  idempotency_key text default null,
  max_attempts int default null,
  expires_at timestamptz default null,
  max_depth bigint default null,
  out status text
)
language plpgsql
set search_path = pg_catalog, pg_temp
set standard_conforming_strings = on
as $body$
#variable_conflict use_column
declare
  -- The limits of every client: 366 days, 200 KiB with 512 bytes for the envelope, 8 KiB of headers, 4 levels of priority.
  most_ms constant float8 := 366 * 86400000.0;
  called_at constant timestamptz := clock_timestamp();
  in_queue constant text := coalesce(enqueue.queue, 'default');
  level constant int := coalesce(enqueue.priority, 1);
  delay_ms constant float8 := coalesce(ceil(extract(epoch from enqueue.delay)::float8 * 1000), 0);
  window_ms constant float8 := coalesce(ceil(extract(epoch from enqueue.dedupe_window)::float8 * 1000), 86400000);
  header_text constant text := nullif(enqueue.headers, '{}')::text;
  fault text[];
  bytes bigint;
  unescaped text;
  checked json;
  depth bigint;
  holder uuid;
  place bigint;
  due timestamptz;
begin
  fault := case
    when (enqueue.type collate "C" ~ '^[A-Za-z0-9._:-]{1,128}$') is not true then array[
      '22023', 'OPTIONS_INVALID', format('%L is not a job type', left(enqueue.type, 60)),
      'Use 1 to 128 of A-Z, a-z, 0-9 and . _ : -']
    when in_queue collate "C" !~ '^[a-z0-9][a-z0-9_-]{0,39}$' then array[
      '22023', 'OPTIONS_INVALID', format('%L is not a queue name', left(in_queue, 60)),
      'Use 1 to 40 of a-z, 0-9, - and _, beginning with a letter or digit.']
    when level not between 0 and 3 then array[
      '22023', 'OPTIONS_INVALID', format('priority %s is not within 0 to 3', level), '0 is first; 1 when left out.']
    when enqueue.delay is not null and enqueue.run_at is not null then array[
      '22023', 'OPTIONS_INVALID', 'both delay and run_at are given', 'Give one of them.']
    when delay_ms not between 0 and most_ms then array[
      '22023', 'OPTIONS_INVALID', format('the delay of %s is not within 0 to 366 days', enqueue.delay),
      'A day counts 24 hours, a month 30 days, a year 365.25.']
    when not isfinite(enqueue.run_at) or enqueue.run_at > called_at + interval '8784 hours' then array[
      '22023', 'OPTIONS_INVALID', format('run_at is %s, more than 366 days away', enqueue.run_at),
      'Give an earlier instant; the past means now.']
    when enqueue.dedupe_key is null and enqueue.dedupe_window is not null then array[
      '22023', 'OPTIONS_INVALID', 'dedupe_window is given without dedupe_key', 'Give both, or neither.']
    when length(enqueue.dedupe_key) not between 1 and 256 then array[
      '22023', 'OPTIONS_INVALID', format('dedupe_key has %s characters, not 1 to 256', length(enqueue.dedupe_key)),
      'Give a shorter key, such as a hash.']
    when window_ms not between 1 and most_ms then array[
      '22023', 'OPTIONS_INVALID', format('the dedupe_window of %s is not within 1 ms to 366 days', enqueue.dedupe_window),
      'Leave it out for 24 hours.']
    when length(enqueue.idempotency_key) not between 1 and 256 then array[
      '22023', 'OPTIONS_INVALID', format('idempotency_key has %s characters, not 1 to 256', length(enqueue.idempotency_key)),
      'Give a shorter key, such as a hash.']
    when enqueue.max_attempts not between 1 and 1000000 then array[
      '22023', 'OPTIONS_INVALID', format('max_attempts %s is not within 1 to 1000000', enqueue.max_attempts),
      'Leave it out for that of the job''s definition.']
    when not isfinite(enqueue.expires_at) or enqueue.expires_at > called_at + interval '285 years' then array[
      '22023', 'OPTIONS_INVALID', format('expires_at is %s, out of range', enqueue.expires_at), 'Leave it out for no expiry.']
    when enqueue.max_depth < 1 then array[
      '22023', 'OPTIONS_INVALID', format('max_depth %s is less than 1', enqueue.max_depth), 'Leave it out for no limit.']
    when jsonb_typeof(enqueue.headers) <> 'object' then array[
      '22023', 'OPTIONS_INVALID', format('headers is not an object: %s', jsonb_typeof(enqueue.headers)),
      'Give names with texts, as jsonb_build_object does.']
    when exists (select from jsonb_each(enqueue.headers) as h where jsonb_typeof(h.value) <> 'string') then array[
      '22023', 'OPTIONS_INVALID', 'headers holds a value that is no text', 'Give names with texts, as jsonb_build_object does.']
    when (select sum(octet_length(h.key) + octet_length(h.value)) from jsonb_each_text(enqueue.headers) as h) > 8192 then array[
      '54000', 'LIMIT_EXCEEDED', 'the headers take more than 8192 bytes', 'Put large things into the payload.']
    when enqueue.payload is null then array[
      '22004', 'PAYLOAD_NOT_SUPPORTED', 'the payload is null', 'For the JSON value, give the text ''null''.']
  end;
  if fault is not null then
    raise exception using errcode = fault[1], detail = fault[2], message = fault[3], hint = fault[4];
  end if;

  -- Version 7: 48 bits of milliseconds, then the version, then what follows it in a random UUID.
  id := coalesce(enqueue.id, (
    lpad(to_hex(floor(extract(epoch from called_at) * 1000)::bigint), 12, '0') || '7'
    || substr(replace(gen_random_uuid()::text, '-', ''), 14)
  )::uuid);
  bytes := 512 + octet_length(enqueue.payload) + coalesce(octet_length(header_text), 0)
    + coalesce(octet_length(enqueue.dedupe_key), 0)
    + coalesce(octet_length(nullif(enqueue.idempotency_key, enqueue.id::text)), 0);
  if bytes > 204800 then
    raise exception using errcode = '54000', detail = 'PAYLOAD_TOO_LARGE',
      message = format('the job takes %s bytes with its envelope; 204800 are allowed', bytes),
      hint = 'Store the data elsewhere and enqueue a reference to it.';
  end if;
  -- What is no JSON fails here, with the server's own words. The text is stored as it was given.
  checked := enqueue.payload;
  if strpos(enqueue.payload, '\ud') > 0 or strpos(enqueue.payload, '\uD') > 0 then
    -- Without escaped backslashes, so that what looks like an escape is one.
    unescaped := replace(enqueue.payload, '\\', '..');
    if regexp_replace(unescaped, '\\u[dD][89abAB][[:xdigit:]]{2}\\u[dD][c-fC-F][[:xdigit:]]{2}', '', 'g') ~ '\\u[dD][89a-fA-F]' then
      raise exception using errcode = '22P05', detail = 'PAYLOAD_NOT_SUPPORTED',
        message = 'the payload holds half of a surrogate pair', hint = 'Give well-formed Unicode.';
    end if;
  end if;

  if enqueue.max_depth is not null then
    depth := (select coalesce(sum(jobs), 0) from (
        select cardinality(t.ids) as jobs from {schema}.ticket as t where t.queue = in_queue order by t.priority, t.seq limit enqueue.max_depth
      ) as ready)
      + (select count(*) from (
        select from {schema}.job as j where j.queue = in_queue and j.state = 1 order by j.due_at limit enqueue.max_depth
      ) as later);
    if depth >= enqueue.max_depth then
      raise exception using errcode = '53400', detail = 'QUEUE_FULL',
        message = format('the queue %L holds %s jobs or more', in_queue, enqueue.max_depth),
        hint = 'Try again when the workers have caught up.';
    end if;
  end if;

  status := 'duplicate';
  if enqueue.dedupe_key is not null then
    loop
      -- An id that is stored already does not take a key.
      if exists (select from {schema}.job as j where j.id = enqueue.id) then return; end if;
      insert into {schema}.dedupe as d (queue, key, job_id, until)
      values (in_queue, enqueue.dedupe_key, enqueue.id, called_at + window_ms * interval '1 ms')
      on conflict (queue, key) do update set job_id = excluded.job_id, until = excluded.until where d.until <= called_at;
      exit when found;
      select d.job_id into holder from {schema}.dedupe as d where d.queue = in_queue and d.key = enqueue.dedupe_key;
      if found then
        id := holder;
        return;
      end if;
      -- It was freed in between.
    end loop;
  end if;

  due := greatest(coalesce(enqueue.run_at, called_at + delay_ms * interval '1 ms'), called_at);
  place := nextval('{schema}.job_seq');
  insert into {schema}.job (
    id, seq, fence, created_at, due_at, expires_at, max_attempts, priority, state, queue, type, idempotency_key, dedupe_key, headers,
    payload
  ) values (
    enqueue.id, place, place, called_at, due,
    case when enqueue.expires_at is not null then greatest(enqueue.expires_at, called_at) end,
    enqueue.max_attempts, level, case when due > called_at then 1 else 0 end, in_queue, enqueue.type,
    nullif(enqueue.idempotency_key, enqueue.id::text), enqueue.dedupe_key, header_text::json, checked
  ) on conflict (id) do nothing;
  if not found then return; end if;
  status := 'accepted';
  if due = called_at then
    insert into {schema}.ticket (queue, priority, seq, fence, ready_at, ids)
    values (in_queue, level, place, place, due, array[enqueue.id]);
  end if;

  -- A waiting worker wants to know of what is due before it would look by itself.
  if due <= called_at + interval '1 second'
    and exists (select from {schema}.idle_mark as m where m.queue = in_queue and m.until > called_at)
    and has_function_privilege('pg_catalog.pg_notify(text, text)', 'execute')
    and {schema}.take_mark(in_queue)
  then
    perform pg_notify('surety_' || btrim('{schema}', '"'), in_queue);
  end if;
end
$body$;

-- The same for what builds JSON. A literal and an untyped parameter go to the one above.
create function {schema}.enqueue(
  type text,
  payload json,
  queue text default null,
  inout id uuid default null,
  delay interval default null,
  run_at timestamptz default null,
  priority int default null,
  dedupe_key text default null,
  dedupe_window interval default null,
  headers jsonb default null,
  idempotency_key text default null,
  max_attempts int default null,
  expires_at timestamptz default null,
  max_depth bigint default null,
  out status text
)
language sql
set search_path = pg_catalog, pg_temp
as $body$ select * from {schema}.enqueue($1, $2::text, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14) $body$;

create function {schema}.enqueue(
  type text,
  payload jsonb,
  queue text default null,
  inout id uuid default null,
  delay interval default null,
  run_at timestamptz default null,
  priority int default null,
  dedupe_key text default null,
  dedupe_window interval default null,
  headers jsonb default null,
  idempotency_key text default null,
  max_attempts int default null,
  expires_at timestamptz default null,
  max_depth bigint default null,
  out status text
)
language sql
set search_path = pg_catalog, pg_temp
as $body$ select * from {schema}.enqueue($1, $2::text, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14) $body$;
