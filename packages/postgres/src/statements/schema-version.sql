-- The newest migration that was run.
-- Inputs: none.
-- Rows: one: version, 0 when none.
-- Locks: none.
select coalesce(max(version), 0)::int as version from {schema}.migration
