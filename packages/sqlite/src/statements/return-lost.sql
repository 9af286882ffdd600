-- Purpose: makes the jobs of an ended claim ready again, at their old place, due since the end of the lease.
-- Inputs: due, claim, limit. Rows: none.
-- Locks: the writer's. Safe: see charge-lost.
insert into surety_ticket (queue, priority, place, seq, due, fence)
select j.queue, j.priority, part.place, part.seq, ?, part.fence + 1
from (select seq, place, fence from surety_held where claim = ? order by seq limit ?) part
cross join surety_job j on j.seq = part.seq
