#!lua flags=allow-oom
-- Frees a dedupe key before its window has passed (G3.3).
-- Keys: 1 dedupe, 2 ends of dedupe keys.
-- Arguments: 1 key.
-- Answer: nothing.
-- Cost: O(log keys).
-- Safe because: both removals are of this key alone.
redis.call('HDEL', KEYS[1], ARGV[1])
redis.call('ZREM', KEYS[2], ARGV[1])
return false
