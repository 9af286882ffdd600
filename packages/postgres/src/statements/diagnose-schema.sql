-- Whether the table of migrations is there.
-- Inputs: $1 schema name, unquoted.
-- Rows: one: migrated.
-- Locks: none.
select exists(
  select from pg_catalog.pg_class as c join pg_catalog.pg_namespace as n on n.oid = c.relnamespace
  where n.nspname = $1 and c.relname = 'migration'
) as migrated
