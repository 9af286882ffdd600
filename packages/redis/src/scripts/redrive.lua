#!lua flags=allow-oom
-- Makes dead letters ready again (G6.3, G6.4).
-- Keys: 1 jobs, 2 meta, 3 dead, 4 dedupe, 5 hint, 6 to 9 ready jobs by level.
-- Arguments: ids.
-- Answer: per id '' (redriven), '-' (no dead letter) or the id of the job that holds its dedupe key.
-- Cost: O(log n) an id; the caller bounds their number.
-- Safe because: a rival finds the entry gone. It is ready before it is no longer dead.
--@ clock
local jobs, meta, dead, dedupe, hint = unpack(KEYS, 1, 5)
--@ wake
local answer, moved = {}, 0

local function holder_of(body, id)
  local head = cjson.decode('[' .. string.match(body, '^([^\n]*),\n') .. ']')
  local key = head[8]
  if type(key) ~= 'string' then return nil end
  local record = call('HGET', dedupe, key)
  if not record then return nil end
  local till, holder = string.match(record, '^(%d+) (.*)$')
  if tonumber(till) <= now or holder == id then return nil end
  return holder
end

for i, id in ipairs(ARGV) do
  local body = call('ZSCORE', dead, id) and call('HGET', jobs, id)
  local holder = body and holder_of(body, id)
  if not body then answer[i] = '-'
  elseif holder then answer[i] = holder
  else
    local deliveries, redrives = string.match(call('HGET', meta, id) or '0,0,0,0,0', '^%d+,(%d+),%d+,%d+,(%d+)')
    call('HSET', meta, id, '0,' .. deliveries .. ',0,0,' .. redrives + 1 .. ',0,0')
    call('ZADD', KEYS[6 + string.match(body, '^%d+,(%d)')], us + moved, id)
    call('ZREM', dead, id)
    moved = moved + 1
    answer[i] = ''
  end
end
if moved > 0 then wake() end
return answer
