-- The first tables. Run once, in one transaction, under the migration lock. {schema} is the quoted schema.
-- A claim does not touch the wide job row: it deletes narrow tickets and writes one claim row per call.
-- Numbers are given out by 32, for as many jobs of one call: asking for each costs as much as its whole ticket. A number that comes
-- back to a client as JSON is exact up to 2^53, which lasts for ninety years at a hundred thousand a second.
create sequence {schema}.job_seq as bigint increment by 32;

-- seq: place among equals (a job that is handed back keeps it). fence: new from the same sequence whenever a claim of the
-- job ends other than by completion; a lease names the fence it was given, so a late holder never matches. Both are one
-- global count, so that an id stored again after its job ended can never be taken for the earlier job.
-- state: 0 ready or leased (ready: stands in a ticket), 1 scheduled, 2 dead.
-- due_at: when it is or was due; waiting is counted from it.
create table {schema}.job (
  id uuid primary key,
  seq bigint not null,
  fence bigint not null,
  created_at timestamptz not null,
  due_at timestamptz not null,
  expires_at timestamptz,
  unknown_since timestamptz,
  dead_at timestamptz,
  attempt int not null default 0,
  deliveries int not null default 0,
  lost_claims int not null default 0,
  interruptions int not null default 0,
  redrives int not null default 0,
  max_attempts int,
  priority smallint not null,
  state smallint not null,
  backed_off boolean not null default false,
  queue text collate "C" not null,
  type text collate "C" not null,
  idempotency_key text,
  dedupe_key text,
  history text[],
  headers json,
  payload json not null
) with (
  fillfactor = 90,
  autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_cost_delay = 0,
  autovacuum_analyze_scale_factor = 0.05, autovacuum_analyze_threshold = 2000,
  toast.autovacuum_vacuum_scale_factor = 0.01, toast.autovacuum_vacuum_threshold = 2000
);
create index job_scheduled on {schema}.job (queue, due_at) where state = 1;
create index job_dead on {schema}.job (queue, dead_at, id) where state = 2;

-- What stands in line: a ticket is for one ready job or, where they were stored together, for several, which are claimed by the row
-- instead of one by one. seq and fence are those of its first job; each further one has the next number of both.
create table {schema}.ticket (
  seq bigint not null,
  fence bigint not null,
  ready_at timestamptz not null,
  priority smallint not null,
  queue text collate "C" not null,
  ids uuid[] not null
) with (
  autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0,
  autovacuum_analyze_scale_factor = 0.05, autovacuum_analyze_threshold = 1000
);
create index ticket_order on {schema}.ticket (queue, priority, seq);

-- One row per claim call (part 0). A renewal of some of its jobs splits it. The arrays are parallel, sorted by fence.
create table {schema}.claim (
  nonce uuid not null,
  part bigint not null default 0,
  until timestamptz not null,
  queue text collate "C" not null,
  ids uuid[] not null,
  fences bigint[] not null,
  primary key (nonce, part)
) with (
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 200, autovacuum_vacuum_cost_delay = 0,
  autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 500
);
create index claim_end on {schema}.claim (queue, until);
-- Random bytes do not compress; trying costs more than the rest of the claim.
alter table {schema}.claim alter column ids set storage external, alter column fences set storage external;
alter table {schema}.ticket alter column ids set storage external;

create table {schema}.dedupe (
  queue text collate "C" not null,
  key text collate "C" not null,
  job_id uuid not null,
  until timestamptz not null,
  primary key (queue, key)
) with (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 1000);
create index dedupe_end on {schema}.dedupe (until);

create table {schema}.paused (
  queue text collate "C" primary key,
  since timestamptz not null
);

-- Somebody waits for jobs of the queue until then. Worth nothing after a crash, hence unlogged.
create unlogged table {schema}.idle (
  queue text collate "C" primary key,
  until timestamptz not null
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 200);

-- Records of completed jobs, where they are kept at all.
create table {schema}.completed (
  id uuid primary key,
  finished_at timestamptz not null,
  created_at timestamptz not null,
  attempt int not null,
  deliveries int not null,
  lost_claims int not null,
  interruptions int not null,
  redrives int not null,
  max_attempts int,
  priority smallint not null,
  cancelled boolean not null,
  queue text collate "C" not null,
  type text collate "C" not null,
  idempotency_key text,
  dedupe_key text,
  history text[],
  headers json,
  payload json not null
) with (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 1000);
create index completed_end on {schema}.completed (finished_at);
