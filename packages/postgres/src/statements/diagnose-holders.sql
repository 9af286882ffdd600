-- What keeps vacuum from removing dead rows of this database, and holds row locks: open and prepared transactions, and
-- replication slots that nobody reads.
-- Inputs: none.
-- Rows: any number, oldest first, at most 10: kind, age_ms (null for a slot), who.
-- Locks: none.
select 'session' as kind,
  extract(epoch from clock_timestamp() - xact_start)::float8 * 1000 as age_ms,
  format('pid %s, role %s, application "%s", %s', pid, usename, application_name, coalesce(state, 'state unknown')) as who
from pg_catalog.pg_stat_activity
where datname = current_database() and xact_start is not null and pid <> pg_backend_pid()
  and backend_type = 'client backend'
union all
select 'prepared', extract(epoch from clock_timestamp() - prepared)::float8 * 1000, format('prepared transaction "%s"', gid)
from pg_catalog.pg_prepared_xacts where database = current_database()
union all
select 'slot', null, format('replication slot "%s"', slot_name)
from pg_catalog.pg_replication_slots where xmin is not null and not active
order by age_ms desc nulls last
limit 10
