-- Settings, limits and ages of the server and of this session, for a diagnosis.
-- Inputs: none.
-- Rows: one. Durations in ms, 0: none. xid_age: of the oldest transaction id of the database.
-- Locks: none.
select
  current_setting('server_version') as version,
  current_setting('server_version_num')::int as version_num,
  current_setting('server_encoding') as encoding,
  pg_is_in_recovery() as in_recovery,
  current_setting('transaction_read_only') as read_only,
  current_setting('fsync') as fsync,
  current_setting('full_page_writes') as full_page_writes,
  current_setting('synchronous_commit') as synchronous_commit,
  current_setting('autovacuum') as autovacuum,
  current_setting('track_counts') as track_counts,
  (select setting::float8 from pg_catalog.pg_settings where name = 'statement_timeout') as statement_timeout_ms,
  (select setting::float8 from pg_catalog.pg_settings where name = 'lock_timeout') as lock_timeout_ms,
  (select sum(numbackends) from pg_catalog.pg_stat_database)::int as connections,
  current_setting('max_connections')::int as max_connections,
  (select age(datfrozenxid) from pg_catalog.pg_database where datname = current_database()) as xid_age,
  has_function_privilege('pg_catalog.pg_notify(text, text)', 'execute') as may_notify
