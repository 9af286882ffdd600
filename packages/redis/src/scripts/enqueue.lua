#!lua
-- Stores jobs of one level that are ready at once, without conditions: the hot road in.
-- Keys: 1 jobs, 2 ready jobs of their level, 3 hint.
-- Arguments: the ids in one text, 36 characters each; then their bodies, which lack their first field, the time of the enqueue,
--   and begin with the level.
-- Answer: the places (from 1) of those whose id is stored already; nothing was changed for these.
-- Cost: three commands a call, one more a job; O(log ready) a job.
-- Safe because: without `allow-oom` a server that is out of memory refuses the script as a whole, before it has written. The
--   line is tried before a body is stored: a body without a place would answer for a job that nobody runs. The hint only
--   wakes: nothing is lost with it.
--@ clock
local jobs, line, hint = unpack(KEYS)
--@ wake
local created = now .. ','
local known, ready, count = {}, {}, 0

-- Changes nothing, and fails as the places below would: for want of a right, or since the key is another program's.
call('ZADD', line, 'XX', 0, '')
local all = ARGV[1]
for i = 1, #ARGV - 1 do
  local id = string.sub(all, 36 * i - 35, 36 * i)
  if call('HSETNX', jobs, id, created .. ARGV[i + 1]) == 1 then
    -- One microsecond apart, so that a batch keeps its order.
    ready[count + 1] = us + i - 1
    ready[count + 2] = id
    count = count + 2
  else
    known[#known + 1] = i
  end
end

if count > 0 then
  call('ZADD', line, unpack(ready))
  wake()
end
return known
