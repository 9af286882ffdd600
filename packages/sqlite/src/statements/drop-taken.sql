-- Purpose: removes the tickets that hold-taken handed out.
-- Inputs: queue, priority, place, seq of the last ticket read. Rows: none.
-- Locks: the writer's. Safe: see hold-taken.
delete from surety_ticket where queue = ? and (priority, place, seq) <= (?, ?, ?)
