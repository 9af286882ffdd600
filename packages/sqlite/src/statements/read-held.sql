-- Purpose: the jobs of a claim as its leases told them, for a claim that is repeated with its nonce (G2.6).
-- Inputs: claim. Rows: as many as the claim's held, in the columns of take-page. The due time is that of a job without a past.
-- Locks: none of its own. Safe because a held job changes only through its holder or the end of the lease.
select h.seq, h.fence, j.due, j.id, j.type, j.expires, j.max_attempts, j.idempotency_key, j.headers, j.payload,
  j.priority, h.place
from surety_held h
cross join surety_job j on j.seq = h.seq
where h.claim = ?
order by j.priority, h.place, h.seq
