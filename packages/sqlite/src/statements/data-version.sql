-- Purpose: whether another connection has committed since the last look: the hint that wakes waiting claims.
-- Inputs: none. Rows: one.
-- Locks: a read lock for the moment. Safe because it is only a hint.
pragma data_version
