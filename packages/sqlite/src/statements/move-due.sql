-- Purpose: first half of a due move: tickets for what is due, oldest first.
-- Inputs: queue, now, limit. Rows: none.
-- Locks: the writer's. Safe because drop-due removes the same rows in the same transaction: same order, same limit.
insert into surety_ticket (queue, priority, place, seq, due, fence)
select queue, priority, due, seq, due, fence from surety_scheduled
where queue = ? and due <= ?
order by due, seq
limit ?
