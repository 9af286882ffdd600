-- Marks of waiting workers, in place of the table idle: one row a mark, which is taken by the enqueue that notifies.
-- A burst of enqueues then sends one notification a mark and not one a job. Notifications of one server wait for each other at
-- commit, so one a job would let no two producers commit at the same time.
-- Rows are only inserted and deleted: with one row a queue, a worker would wait here for a transaction of the application that
-- has taken the mark and goes on for a minute.
-- The table idle stays for processes of the version before; nobody else uses it, and a later migration may drop it.
create unlogged table {schema}.idle_mark (
  queue text collate "C" not null,
  until timestamptz not null
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 200, autovacuum_vacuum_cost_delay = 0);
-- Marks that were taken and not yet vacuumed lie in the past, and are never walked.
create index idle_mark_end on {schema}.idle_mark (queue, until);

-- Whether an enqueue has to notify: it takes the marks of the queue, in its own transaction. False where they are being taken
-- by somebody else, who will notify: the worker woken by that looks again soon, for what committed a little later.
-- On a snapshot of its own age (repeatable read) a mark that was taken meanwhile would be a serialization failure, so there
-- marks are only looked at. Whoever calls it asks whether there is a mark first.
create function {schema}.take_mark(queue text) returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
as $body$
#variable_conflict use_column
begin
  if current_setting('transaction_isolation') not like 'read %' then return true; end if;
  delete from {schema}.idle_mark
  where ctid = any(array(
    select m.ctid from {schema}.idle_mark as m
    where m.queue = take_mark.queue and m.until > clock_timestamp()
    for update skip locked
  ));
  return found;
end
$body$;
