-- How many sessions of this database the role may not look into.
-- Inputs: none.
-- Rows: one: hidden.
-- Locks: none.
select count(*)::int as hidden
from pg_catalog.pg_stat_activity
where datname = current_database() and query = '<insufficient privilege>'
