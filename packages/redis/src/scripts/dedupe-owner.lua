#!lua flags=no-writes
-- The job that holds a dedupe key (G3.3).
-- Keys: 1 dedupe.
-- Arguments: 1 key.
-- Answer: its id, or '' when the key is free.
-- Cost: O(1).
-- Safe because: it reads one moment.
--@ clock
local record = call('HGET', KEYS[1], ARGV[1])
if not record then return '' end
local till, id = string.match(record, '^(%d+) (.*)$')
return tonumber(till) > now and id or ''
