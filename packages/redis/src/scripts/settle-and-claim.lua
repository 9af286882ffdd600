#!lua flags=allow-oom
-- Ends leases in every way, takes back what ended claims held, moves due jobs into line, and claims: one call of a worker.
-- Keys: 1 jobs, 2 meta, 3 errors, 4 held, 5 claims, 6 leased, 7 scheduled, 8 dead, 9 state, 10 hint, 11 to 14 ready jobs by
--   level, 15 done, 16 past.
-- Arguments: 1 how many to claim (0: none), 2 length of the leases in ms, 3 nonce, 4 '1': payloads apart, 5 most entries of a
--   history, 6 how long records of completed jobs are kept in ms (0: none), 7 most such records, 8 groups of completions,
--   9 other settlements. Then per group nonce, fence, number of ids, ids; then per settlement nonce, fence, id, kind
--   (0 completed, 1 cancelled, 2 retry, 3 bury, 4 release), delay in ms, reason of a release (0 unstarted, 1 stop,
--   2 unknown-type, 3 loss-backoff, 4 snooze), error as JSON.
-- Answer: 1 places (from 1) of the leases that were lost, 2 the claimed jobs: a JSON text, or with payloads apart four values
--   a job, 3 '1': paused, 4 ms until the next job is due or claim ends (-1: none waits), 5 fence, 6 now, 7 jobs without a body.
-- Cost: O(log n) a job; some hundred jobs are taken back, and 500 moved, at the most.
-- Safe because: a lease lives while its claim is in `leased` with an end that has not come, and while `held` says that its job
--   belongs to it. Whatever takes a job out of a claim removes that mark, and a fence is given once, so a late holder finds
--   nothing. A job is put where it goes before it is taken from where it was. With `allow-oom` a full server can be emptied.
--@ clock
local jobs, meta, errors, held, claims, leased, scheduled, dead, state, hint = unpack(KEYS, 1, 10)
--@ leases
--@ wake
--@ settle
--@ tend

local argument = 10
for _ = 1, tonumber(ARGV[8]) do
  local last = argument + 2 + ARGV[argument + 2]
  complete(ARGV[argument], ARGV[argument + 1], { unpack(ARGV, argument + 3, last) })
  argument = last + 1
end
for _ = 1, tonumber(ARGV[9]) do
  settle(unpack(ARGV, argument, argument + 6))
  argument = argument + 7
end
if ARGV[6] ~= '0' then trim_records() end
wake_for_due(earliest)

local want = tonumber(ARGV[1])
local known = want > 0 and call('HMGET', state, 'paused', 'fence') or {}
if want == 0 or known[1] then
  if came_back then wake() end
  return { lost, '', known[1] and 1 or 0, -1, '0', now, 0 }
end

take_back_ended()
move_due()

local nonce, apart = ARGV[3], ARGV[4] == '1'
local ids, since, levels, count = {}, {}, {}, 0
local record = call('HGET', claims, nonce)
local fence = record and string.match(record, '^%d+')

-- This claim was made before and its answer lost: what it still holds, as it was leased then.
local function find_held()
  local all = {}
  for at = #fence + 2, #record, 37 do all[#all + 1] = string.sub(record, at + 1, at + 36) end
  local marks = call('HMGET', held, unpack(all))
  for i = 1, #all do
    if marks[i] and belongs(marks[i], fence) and lives(nonce .. ':' .. marks[i]) then
      count = count + 1
      ids[count] = all[i]
    end
  end
end

local function find_ready()
  for level = 0, 3 do
    if count == want then return end
    local found = call('ZRANGE', KEYS[11 + level], 0, want - count - 1, 'WITHSCORES')
    for i = 1, #found, 2 do
      count = count + 1
      ids[count], since[count], levels[count] = found[i], found[i + 1], level
    end
  end
end

if record then find_held() else find_ready() end

if count == 0 then
  local next_at = nil
  for _, key in ipairs({ scheduled, leased }) do
    local at = tonumber(call('ZRANGE', key, 0, 0, 'WITHSCORES')[2])
    if at and (not next_at or at < next_at) then next_at = at end
  end
  return { lost, '', 0, next_at and math.max(0, next_at - now) or -1, '0', now, 0 }
end

local bodies = call('HMGET', jobs, unpack(ids))
local counters = call('EXISTS', meta) == 1 and call('HMGET', meta, unpack(ids)) or {}
local missing = 0

local function lease()
  fence = string.format('%.0f', math.max(us, tonumber(known[2] or 0) + 1))
  call('HSET', state, 'fence', fence)
  local marks, list, taken, n = {}, {}, {}, 0
  for i = 1, count do
    local id, level = ids[i], levels[i]
    taken[level] = (taken[level] or 0) + 1
    -- A place in line without a job: somebody else wrote here. It is dropped, and told.
    if bodies[i] then
      marks[n + 1], marks[n + 2] = id, fence
      list[n + 1], list[n + 2] = level, id
      n = n + 2
    else
      missing = missing + 1
    end
  end
  if n > 0 then
    call('HSET', held, unpack(marks))
    call('HSET', claims, nonce, fence .. ' ' .. table.concat(list), nonce .. '#', n / 2)
    call('ZADD', leased, from + ARGV[2], nonce .. ':' .. fence)
  end
  for level, jobs_taken in pairs(taken) do call('ZREMRANGEBYRANK', KEYS[11 + level], 0, jobs_taken - 1) end
  if count == want and call('EXISTS', KEYS[11], KEYS[12], KEYS[13], KEYS[14]) > 0 then wake() end
end

if not record then lease() end

-- What the payloads' neighbours must not be hurt by: each value apart.
local function answer_apart()
  local answer = {}
  for i = 1, count do
    local body = bodies[i]
    if body then
      local at = since[i] or string.match(body, '^%d+') .. '000'
      local numbers = counters[i] and '[' .. counters[i] .. ']' or '0'
      for _, value in ipairs({ ids[i], at, numbers, body }) do answer[#answer + 1] = value end
    end
  end
  return answer
end

-- All in one text, joined once: a text for each job would be made only to be copied.
local function answer_whole()
  local pieces, n = {}, 0
  for i = 1, count do
    local body = bodies[i]
    if body then
      pieces[n + 1] = n == 0 and '[["' or '],["'
      pieces[n + 2] = ids[i]
      pieces[n + 3] = '",'
      pieces[n + 4] = since[i] or string.match(body, '^%d+') .. '000'
      pieces[n + 5] = counters[i] and ',[' .. counters[i] .. '],' or ',0,'
      pieces[n + 6] = body
      n = n + 6
    end
  end
  pieces[n + 1] = n == 0 and '[]' or ']]'
  return table.concat(pieces)
end

return { lost, apart and answer_apart() or answer_whole(), 0, -1, fence, now, missing }
