-- Purpose: a redriven job starts anew; deliveries and history stay (G6.3).
-- Inputs: due, JSON array of seq. Rows: none.
-- Locks: the writer's. Safe: a dead letter always has a past, for it was buried.
update surety_past
set attempt = 0, lost_claims = 0, interruptions = 0, redrives = redrives + 1, loss_backed_off = 0,
  unknown_type_since = null, due = ?
where seq in (select value from json_each(?))
