-- Purpose: hands the tickets that were read to a claim. The fence is the number of the delivery, so it grows (G2.7).
-- Inputs: claim, queue, priority, place, seq of the last ticket read. Rows: none.
-- Locks: the writer's. Safe because a claim takes the first tickets without a gap: "up to the last one read" names
--   exactly those, and nobody else writes before the commit.
insert into surety_held (claim, seq, fence, place)
select ?, seq, fence, place from surety_ticket
where queue = ? and (priority, place, seq) <= (?, ?, ?)
