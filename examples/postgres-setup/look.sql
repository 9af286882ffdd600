-- region: holders
-- Who holds vacuum back. An hour is too long for a queue that does a thousand jobs a second.
select pid, usename, application_name, state, age(clock_timestamp(), xact_start) as open_for, left(query, 60) as query
from pg_stat_activity
where backend_xmin is not null and pid <> pg_backend_pid() and backend_type = 'client backend'
order by xact_start;
-- endregion

-- region: slots
-- Replication slots and prepared transactions hold it back too, without a session that could be seen.
select slot_name as name, age(xmin) as transactions_behind from pg_replication_slots where xmin is not null
union all
select gid, age(transaction) from pg_prepared_xacts;
-- endregion

-- region: bloat
-- Dead rows that vacuum has not removed, and when it last tried.
select relname, n_live_tup, n_dead_tup, last_autovacuum
from pg_stat_user_tables
where schemaname = 'surety'
order by n_dead_tup desc;
-- endregion
