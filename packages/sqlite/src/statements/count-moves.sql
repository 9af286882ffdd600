-- Purpose: keeps the counters of a queue equal to its lists.
-- Inputs: change of ready, of scheduled, of dead; queue. Rows: none.
-- Locks: the writer's. Safe because it runs in the transaction that changed the lists.
update surety_queue set ready = ready + ?, scheduled = scheduled + ?, dead = dead + ? where id = ?
