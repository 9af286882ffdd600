-- Purpose: removes records that were kept long enough, in steps.
-- Inputs: at, limit. Rows: none.
-- Locks: the writer's. Safe to repeat.
delete from surety_finished
where id in (select id from surety_finished where at <= ? order by at limit ?)
