-- Purpose: takes the jobs of an ended claim from its holder.
-- Inputs: claim, claim, limit. Rows: none.
-- Locks: the writer's. Safe: see charge-lost.
delete from surety_held
where claim = ? and seq in (select seq from surety_held where claim = ? order by seq limit ?)
