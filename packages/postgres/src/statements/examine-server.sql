-- What of the server decides whether the promises can be kept.
-- Inputs: $1 schema name, unquoted.
-- Rows: one.
-- Locks: none.
select
  current_setting('server_version_num')::int as version,
  current_setting('server_encoding') as encoding,
  current_setting('fsync') as fsync,
  current_setting('synchronous_commit') as synchronous_commit,
  pg_is_in_recovery() as in_recovery,
  current_setting('transaction_read_only') as read_only,
  has_function_privilege('pg_catalog.pg_notify(text, text)', 'execute') as may_notify,
  exists(
    select from pg_catalog.pg_class as c join pg_catalog.pg_namespace as n on n.oid = c.relnamespace
    where n.nspname = $1 and c.relname = 'migration'
  ) as migrated
