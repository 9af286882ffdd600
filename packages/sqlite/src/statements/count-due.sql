-- Purpose: scheduled jobs of a queue that are due and not moved yet; and the earliest of them.
-- Inputs: queue, now. Rows: one.
-- Locks: none. Safe: a range of the primary key.
select count(*) as due, min(due) as first_due from surety_scheduled where queue = ? and due <= ?
