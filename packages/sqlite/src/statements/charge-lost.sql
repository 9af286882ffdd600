-- Purpose: charges the jobs of an ended claim with one lost attempt each (G4.3).
-- Inputs: due, claim, limit. Rows: none.
-- Locks: the writer's. Safe because return-lost and drop-lost treat the same rows in the same transaction: the first of
--   the claim by seq. "where true" keeps the parser from reading "on conflict" as a join.
insert into surety_past
  (seq, attempt, deliveries, lost_claims, interruptions, redrives, loss_backed_off, unknown_type_since, due,
   history)
select part.seq, coalesce(p.attempt, 0) + 1, part.fence, coalesce(p.lost_claims, 0) + 1, coalesce(p.interruptions, 0),
  coalesce(p.redrives, 0), 0, p.unknown_type_since, ?, p.history
from (select seq, fence from surety_held where claim = ? order by seq limit ?) part
left join surety_past p on p.seq = part.seq
where true
on conflict (seq) do update set
  attempt = excluded.attempt, deliveries = excluded.deliveries, lost_claims = excluded.lost_claims, loss_backed_off = 0,
  due = excluded.due
