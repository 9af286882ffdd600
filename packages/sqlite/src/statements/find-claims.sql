-- Purpose: what lives of a claim call.
-- Inputs: nonce, now. Rows: none, one, or more after a renewal of a part.
-- Locks: none of its own. Safe because a claim that has ended is left out, moved or not (G2.4).
select id, queue, until, held from surety_claim where nonce = ? and until > ?
