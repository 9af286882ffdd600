-- Purpose: makes a queue known when it gets its first job or its first pause.
-- Inputs: name. Rows: none.
-- Locks: the writer's. Safe to repeat: the name is unique.
insert into surety_queue (name) values (?) on conflict (name) do nothing
