#!lua flags=no-writes
-- Whether a queue holds a job in any state or is paused (G5.3).
-- Keys: 1 jobs, 2 state.
-- Arguments: none.
-- Answer: 1 or 0.
-- Cost: O(1).
-- Safe because: a job has its body from its enqueue to its end.
if redis.call('EXISTS', KEYS[1]) == 1 or redis.call('HEXISTS', KEYS[2], 'paused') == 1 then return 1 end
return 0
