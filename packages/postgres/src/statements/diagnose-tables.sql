-- Sizes, dead rows, autovacuum and rights of Surety's tables.
-- Inputs: $1 schema name, unquoted.
-- Rows: one a table: name, bytes (with indexes and TOAST), live, dead, vacuumed_ago_ms (null: never), vacuum_off, usable.
-- Locks: access share for a moment, by pg_total_relation_size.
select c.relname as name,
  pg_total_relation_size(c.oid)::float8 as bytes,
  coalesce(s.n_live_tup, 0)::float8 as live,
  coalesce(s.n_dead_tup, 0)::float8 as dead,
  extract(epoch from clock_timestamp() - greatest(s.last_vacuum, s.last_autovacuum))::float8 * 1000 as vacuumed_ago_ms,
  coalesce('autovacuum_enabled=false' = any(c.reloptions), false) as vacuum_off,
  has_table_privilege(c.oid, 'select') and has_table_privilege(c.oid, 'insert')
    and has_table_privilege(c.oid, 'update') and has_table_privilege(c.oid, 'delete') as usable
from pg_catalog.pg_class as c
join pg_catalog.pg_namespace as n on n.oid = c.relnamespace
left join pg_catalog.pg_stat_all_tables as s on s.relid = c.oid
where n.nspname = $1 and c.relkind = 'r'
order by c.relname
