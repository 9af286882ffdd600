-- Purpose: second half of a due move.
-- Inputs: queue, queue, now, limit. Rows: none.
-- Locks: the writer's. Safe: see move-due.
delete from surety_scheduled
where queue = ? and (due, seq) in (
  select due, seq from surety_scheduled where queue = ? and due <= ? order by due, seq limit ?
)
