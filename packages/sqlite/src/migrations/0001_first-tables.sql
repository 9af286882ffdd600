-- The tables of version 1. Append-only: a later version adds a file, it never edits this one.
--
-- A job is one row of surety_job that nothing ever updates, and stands in exactly one list:
--   surety_ticket (ready), surety_scheduled (due later), surety_held (leased), surety_dead.
-- What an unhappy past left behind (attempts, losses, errors) is a row of surety_past; a job that never failed has none.
-- So a claim, a due move or a retry rewrites narrow rows only, however large the payload is.
-- All instants are milliseconds of the store's clock since 1970.

-- One row. next: the number of the next job. high and shift: see store-clock.ts.
create table surety_store (
  one integer primary key check (one = 1),
  version integer not null,
  next integer not null,
  high real not null,
  shift real not null
) strict;
insert into surety_store (one, version, next, high, shift) values (1, 0, 1, 0.0, 0.0);

-- ready, scheduled and dead count the rows of the three lists, kept in the transaction that changes them. The leased
-- are in surety_claim.held.
create table surety_queue (
  id integer primary key,
  name text not null unique,
  paused integer not null default 0,
  ready integer not null default 0,
  scheduled integer not null default 0,
  dead integer not null default 0
) strict;

-- seq is given out by surety_store.next and never used twice, unlike an id, which may come back once its job is gone.
-- due: its first one; that of surety_past, where there is one, is newer. A job that is neither held nor dead is ready when
-- its due time has come, scheduled otherwise. idempotency_key null: the id. headers null: none. The payload comes last: what stands before it is read without it.
create table surety_job (
  seq integer primary key,
  id text not null unique,
  queue integer not null,
  type text not null,
  priority integer not null,
  created integer not null,
  due integer not null,
  expires integer,
  max_attempts integer,
  idempotency_key text,
  dedupe_key text,
  headers text,
  payload text not null
) strict;

create table surety_past (
  seq integer primary key,
  attempt integer not null,
  deliveries integer not null,
  lost_claims integer not null,
  interruptions integer not null,
  redrives integer not null,
  loss_backed_off integer not null,
  unknown_type_since integer,
  due integer not null,
  history text
) strict;

-- place orders the tickets of one level. It is the instant at which the job became ready, except for one that was handed
-- back unharmed or lost its worker: that one has its old place and a later due. So due >= place, always.
-- fence: the number of the delivery that the next claim makes. 1: never claimed before, so there is no surety_past.
create table surety_ticket (
  queue integer not null,
  priority integer not null,
  place integer not null,
  seq integer not null,
  due integer not null,
  fence integer not null,
  primary key (queue, priority, place, seq)
) strict, without rowid;

create table surety_scheduled (
  queue integer not null,
  due integer not null,
  seq integer not null,
  priority integer not null,
  fence integer not null,
  primary key (queue, due, seq)
) strict, without rowid;

-- One row per claim call, more when a part of its leases was renewed apart from the rest. held: its rows in surety_held,
-- never 0. Claims are few, at most one per claim call under way, so looking for ended ones reads them all and needs no index.
create table surety_claim (
  id integer primary key,
  nonce text not null,
  queue integer not null,
  until integer not null,
  held integer not null
) strict;
create index surety_claim_by_nonce on surety_claim (nonce);

create table surety_held (
  claim integer not null,
  seq integer not null,
  fence integer not null,
  place integer not null,
  primary key (claim, seq)
) strict, without rowid;

create table surety_dead (
  seq integer primary key,
  queue integer not null,
  at integer not null,
  type text not null,
  reason text not null
) strict;
create index surety_dead_by_time on surety_dead (queue, at, seq);
create index surety_dead_by_type on surety_dead (queue, type, at, seq);

-- until runs from the accepted enqueue, whatever becomes of the job.
create table surety_dedupe (
  queue integer not null,
  key text not null,
  id text not null,
  until integer not null,
  primary key (queue, key)
) strict, without rowid;
create index surety_dedupe_by_end on surety_dedupe (until);

-- Records of ended jobs, only where keepCompletedMs asks for them. The newest end of an id counts.
create table surety_finished (
  id text primary key,
  queue integer not null,
  at integer not null,
  outcome text not null,
  type text not null,
  priority integer not null,
  created integer not null,
  max_attempts integer,
  idempotency_key text,
  dedupe_key text,
  attempt integer not null,
  deliveries integer not null,
  lost_claims integer not null,
  interruptions integer not null,
  redrives integer not null,
  history text,
  headers text,
  payload text not null
) strict;
create index surety_finished_by_time on surety_finished (at);
