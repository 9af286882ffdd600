-- Purpose: queues that hold a job in any state or are paused (G5.3).
-- Inputs: none. Rows: one per queue, sorted.
-- Locks: none.
select q.name from surety_queue q
where q.paused <> 0 or q.ready > 0 or q.scheduled > 0 or q.dead > 0
  or exists (select 1 from surety_claim c where c.queue = q.id)
order by q.name
