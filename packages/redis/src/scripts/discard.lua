#!lua flags=allow-oom
-- Removes dead letters for good (G6.5).
-- Keys: 1 jobs, 2 meta, 3 errors, 4 dead.
-- Arguments: ids.
-- Answer: per id 1 (discarded) or 0 (no dead letter).
-- Cost: O(log dead) an id; the caller bounds their number.
-- Safe because: only what is in the list of the dead is removed, and a rival finds it gone. It leaves the list last: what is
--   refused in the middle can be discarded again, and leaves no body behind that nobody sees.
local call = redis.call
local answer = {}
for i, id in ipairs(ARGV) do
  answer[i] = call('ZSCORE', KEYS[4], id) and 1 or 0
  if answer[i] == 1 then
    for key = 1, 3 do call('HDEL', KEYS[key], id) end
    call('ZREM', KEYS[4], id)
  end
end
return answer
