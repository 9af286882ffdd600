#!lua
-- Stores jobs with a delay, an expiry, a dedupe key or a maximum depth, each judged by itself and in order.
-- Keys: 1 jobs, 2 scheduled, 3 leased, 4 claims, 5 dedupe, 6 ends of dedupe keys, 7 hint, 8 to 11 ready jobs by level.
-- Arguments: seven a job: id, level, the body behind its fields of time, delay in ms, expiry in ms from now or '', maximum
--   depth or '', the rest of the job's dedupe: window in ms or ''; and if there is a window, its key as an eighth.
-- Answer: three a job that was not stored: its place (from 1), 'full' or 'known', and the id that stands in its way.
-- Cost: O(log n) a job; at most four ended dedupe keys are removed with each new one.
-- Safe because: as enqueue.lua; a job has its place before its body, and its body before its dedupe key, so that whatever is
--   refused in between, no answer names a job that nobody runs: a place without a body is dropped by whoever claims. A due
--   time is rounded up to the next millisecond, so that no job is early.
--@ clock
local jobs, scheduled, leased, claims, dedupe, ends, hint = unpack(KEYS, 1, 7)
--@ wake
--@ leases
--@ ended-claims
local refused = {}
local depth = nil
local earliest = nil
local stored_ready = false

local function refuse(place, why, id)
  local count = #refused
  refused[count + 1] = place
  refused[count + 2] = why
  refused[count + 3] = id
end

-- Ready and scheduled jobs, and those of claims that have ended, which are ready though not moved yet.
local function count_depth()
  local sum = call('ZCARD', scheduled)
  for level = 8, 11 do sum = sum + call('ZCARD', KEYS[level]) end
  return sum + held_by_ended()
end

-- The job that holds a dedupe key, or nil.
local function holder_of(key)
  local record = call('HGET', dedupe, key)
  if not record then return nil end
  local till, id = string.match(record, '^(%d+) (.*)$')
  return tonumber(till) > now and id or nil
end

local function take_key(key, id, window)
  for _, ended in ipairs(call('ZRANGE', ends, '-inf', now, 'BYSCORE', 'LIMIT', 0, 4)) do
    call('HDEL', dedupe, ended)
    call('ZREM', ends, ended)
  end
  local till = string.format('%.0f', from + window)
  call('HSET', dedupe, key, till .. ' ' .. id)
  call('ZADD', ends, till, key)
end

local i, place = 1, 0
while i <= #ARGV do
  local id, level, rest, delay, expiry, most, window = unpack(ARGV, i, i + 6)
  local key = nil
  i = i + 7
  place = place + 1
  if window ~= '' then
    key = ARGV[i]
    i = i + 1
  end
  local holder = nil
  if call('HEXISTS', jobs, id) == 1 then holder = id
  elseif key then holder = holder_of(key) end
  local full = false
  if not holder and most ~= '' then
    depth = depth or count_depth()
    full = depth >= tonumber(most)
  end
  if holder then refuse(place, 'known', holder)
  elseif full then refuse(place, 'full', '')
  else
    local ends_at = expiry == '' and '0' or string.format('%.0f', now + expiry)
    if delay == '0' then
      call('ZADD', KEYS[8 + level], us + place - 1, id)
      stored_ready = true
    else
      local due = from + delay
      call('ZADD', scheduled, due, level .. id)
      if not earliest or due < earliest then earliest = due end
      ends_at = '[' .. ends_at .. ',' .. string.format('%.0f', due) .. ']'
    end
    call('HSET', jobs, id, now .. ',' .. level .. ',' .. ends_at .. ',' .. rest)
    if key then take_key(key, id, tonumber(window)) end
    if depth then depth = depth + 1 end
  end
end

if stored_ready then wake() else wake_for_due(earliest) end
return refused
