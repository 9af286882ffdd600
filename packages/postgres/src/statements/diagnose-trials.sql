-- Schemas that trials have left, or are using at this moment.
-- Inputs: $1 begin of their names.
-- Rows: any number: name.
-- Locks: none.
select nspname as name from pg_catalog.pg_namespace where starts_with(nspname, $1) order by nspname
