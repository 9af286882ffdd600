#!lua flags=allow-oom
-- Pauses or resumes a queue (G9.1) and wakes whoever waits for it.
-- Keys: 1 state, 2 hint.
-- Arguments: 1 '1': pause, '0': resume.
-- Answer: nothing.
-- Cost: O(1).
-- Safe because: each claim looks at the pause inside of its own script.
--@ clock
local state, hint = unpack(KEYS)
--@ wake
if ARGV[1] == '1' then
  call('HSET', state, 'paused', now)
else
  call('HDEL', state, 'paused')
end
wake()
return false
