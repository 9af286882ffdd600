-- Purpose: end of the lease that holds a job.
-- Inputs: queue, seq. Rows: none or one.
-- Locks: none. Safe: one look-up per claim of the queue; claims are few.
select c.until, h.fence from surety_claim c
cross join surety_held h on h.claim = c.id
where c.queue = ? and h.seq = ?
