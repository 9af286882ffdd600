-- Purpose: what a claim that did not end happily leaves behind.
-- Inputs: seq, attempt, deliveries, lost_claims, interruptions, redrives, loss_backed_off, unknown_type_since, due,
--   history.
-- Rows: none.
-- Locks: the writer's. Safe because the values were made from the row as it stands in the same transaction.
insert or replace into surety_past
  (seq, attempt, deliveries, lost_claims, interruptions, redrives, loss_backed_off, unknown_type_since, due,
   history)
values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
