-- Purpose: moves the leases that are renewed to a claim row of their own; their neighbours keep the old end.
-- Inputs: new claim, old claim, JSON array of seq. Rows: none.
-- Locks: the writer's. Safe because the caller saw them held in the same transaction; the nonce stays the same.
update surety_held set claim = ? where claim = ? and seq in (select value from json_each(?))
