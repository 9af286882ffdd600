#!lua flags=allow-oom
-- Removes dead letters for good (G6.5).
-- Keys: 1 jobs, 2 meta, 3 errors, 4 dead.
-- Arguments: ids.
-- Answer: per id 1 (discarded) or 0 (no dead letter).
-- Cost: O(log dead) an id; the caller bounds their number.
-- Safe because: only what was in the list of the dead is removed, and a rival finds it gone.
local call = redis.call
local answer = {}
for i, id in ipairs(ARGV) do
  answer[i] = call('ZREM', KEYS[4], id)
  if answer[i] == 1 then
    for key = 1, 3 do call('HDEL', KEYS[key], id) end
  end
end
return answer
