#!lua flags=allow-oom
-- Ends leases in every way, takes back what ended claims held, moves due jobs into line, and claims: one call of a worker.
-- Keys: 1 jobs, 2 meta, 3 errors, 4 claims, 5 leased, 6 scheduled, 7 dead, 8 state, 9 hint, 10 to 13 ready jobs by level,
--   14 done, 15 past.
-- Arguments: 1 how many to claim (0: none), 2 length of the leases in ms, 3 nonce, 4 '1': bodies apart, 5 most entries of a
--   history, 6 how long records of completed jobs are kept in ms (0: none), 7 most such records, 8 groups of completions,
--   9 other settlements. Then per group nonce, fence, first and last place of each row of jobs; then per settlement nonce,
--   fence, id, kind (0 completed, 1 cancelled, 2 retry, 3 bury, 4 release), delay in ms, reason of a release (0 unstarted,
--   1 stop, 2 unknown-type, 3 loss-backoff, 4 snooze), error as JSON.
-- Answer: 1 places (from 1) of the leases that were lost, 2 the claimed jobs as `claims` has them under the nonce, '' without a
--   job; of a claim made again, a hyphen for the level of each that has left, 3 their bodies, as JSON or apart, 4 '1': paused,
--   5 ms until the next job is due or claim ends (-1: none waits), 6 fence, 7 now, 8 jobs without a body, 9 as JSON, of each job
--   0 or its place in line (0: not known) and its counters; '': none came back.
-- Cost: O(log n) a job; some hundred jobs are taken back, and 500 moved, at the most.
-- Safe because: a lease lives while its part of the claim is in `leased` with an end that has not come, and while `claims` says
--   that its job has not left. Whatever takes a job out of a claim writes that it has, and a fence is given once, so a late
--   holder finds nothing. A job is put where it goes before it is taken from where it was. With `allow-oom` a full server can
--   be emptied.
--@ clock
local jobs, meta, errors, claims, leased, scheduled, dead, state, hint = unpack(KEYS, 1, 9)
--@ wake
local lost, earliest, came_back = {}, nil, false
local FRESH = '0,0,0,0,0,0,0'
local COUNTERS = '^(%d+),(%d+),(%d+),(%d+),(%d+),(%d+),(%d+)$'

-- Of no use to a claim that was waiting, which a job waits for: a function costs when it is made, too.
if ARGV[8] ~= '0' or ARGV[9] ~= '0' or ARGV[6] ~= '0' then
--@ leases
--@ settle
  local argument = 10
  for _ = 1, tonumber(ARGV[8]) do
    complete(unpack(ARGV, argument, argument + 2))
    argument = argument + 3
  end
  for _ = 1, tonumber(ARGV[9]) do
    settle(unpack(ARGV, argument, argument + 6))
    argument = argument + 7
  end
  if ARGV[6] ~= '0' then trim_records() end
  wake_for_due(earliest)
end

local want = tonumber(ARGV[1])
local known = want > 0 and call('HMGET', state, 'paused', 'fence') or {}
if want == 0 or known[1] then
  if came_back then wake() end
  return { lost, '', '', known[1] and 1 or 0, -1, '0', now, 0, '' }
end

local nonce, apart = ARGV[3], ARGV[4] == '1'
local ids, levels, places, count = {}, {}, {}, 0
local fence, record_again
local ended = call('ZRANGE', leased, '-inf', now, 'BYSCORE', 'LIMIT', 0, 50, 'WITHSCORES')
local due = call('ZRANGE', scheduled, '-inf', now, 'BYSCORE', 'LIMIT', 0, 500, 'WITHSCORES')

if #ended > 0 or #due > 0 or call('HEXISTS', claims, nonce) == 1 then
--@ leases
--@ tend
  take_back_ended(ended)
  move_due(due)
  local made = open(nonce)
  -- This claim was made before and its answer lost: what it still holds, as it was leased then.
  if made then
    fence = made.fence
    for at = 1, made.size do
      local part = part_at(made, at)
      if part and lives(made, part) then
        count = count + 1
        ids[count], levels[count], places[count] = id_at(made, at), level_at(made, at), at
      end
    end
    -- Its record, without the jobs that have left since.
    record_again = function(held_levels, held_places)
      local shown = {}
      for at = 1, made.size do shown[at] = '-' end
      for n, at in ipairs(held_places) do shown[at] = held_levels[n] end
      return fence .. ' ' .. table.concat(shown) .. ' ' .. string.sub(made.record, made.ids + 1)
    end
  end
end

local is_new = not record_again
if is_new then
  for level = 0, 3 do
    if count == want then break end
    -- Without the places: a server prints each with all its digits, and few are needed.
    for _, id in ipairs(call('ZRANGE', KEYS[10 + level], 0, want - count - 1)) do
      count = count + 1
      ids[count], levels[count] = id, level
    end
  end
end

if count == 0 then
  local next_at = nil
  for _, key in ipairs({ scheduled, leased }) do
    local at = tonumber(call('ZRANGE', key, 0, 0, 'WITHSCORES')[2])
    if at and (not next_at or at < next_at) then next_at = at end
  end
  return { lost, '', '', 0, next_at and math.max(0, next_at - now) or -1, '0', now, 0, '' }
end

local bodies = call('HMGET', jobs, unpack(ids))
local counters = call('EXISTS', meta) == 1 and call('HMGET', meta, unpack(ids))
local missing = 0

if is_new then
  -- The time in us, or one more than the last, should the clock have stood still or gone back.
  fence = time[1] .. string.sub('00000' .. time[2], -6)
  if known[2] and tonumber(known[2]) >= us then fence = string.format('%.0f', known[2] + 1) end
  call('HSET', state, 'fence', fence)
end

-- Few and long pieces, none made twice: the server reckons a hash of every text that a script makes, from all its characters.
local held, held_levels, held_places, found, numbers, taken = {}, {}, {}, {}, {}, {}
for i = 1, count do
  local id, level, body = ids[i], levels[i], bodies[i]
  taken[level] = (taken[level] or 0) + 1
  -- A place in line without a job: somebody else wrote here. It is dropped, and told.
  if body then
    local n = #found + 1
    found[n], held[n], held_levels[n], held_places[n] = body, id, level, places[i]
    if counters then
      -- What somebody else wrote there would make the answer unreadable, and with it every claim.
      local whole = counters[i] and string.find(counters[i], COUNTERS)
      local place = whole and is_new and call('ZSCORE', KEYS[10 + level], id) or '0'
      numbers[n] = whole and '[' .. place .. ',' .. counters[i] .. ']' or '0'
    end
  else
    missing = missing + 1
  end
end

local claimed
if is_new then
  claimed = fence .. ' ' .. table.concat(held_levels) .. ' ' .. table.concat(held)
  if #found > 0 then
    call('HSET', claims, nonce, claimed, nonce .. '#', string.rep('1', #found))
    call('ZADD', leased, from + ARGV[2], nonce .. ':' .. fence)
  end
  for level, jobs_taken in pairs(taken) do call('ZREMRANGEBYRANK', KEYS[10 + level], 0, jobs_taken - 1) end
  if count == want and call('EXISTS', KEYS[10], KEYS[11], KEYS[12], KEYS[13]) > 0 then wake() end
else
  claimed = record_again(held_levels, held_places)
end
if #found == 0 then claimed = '' end
-- Together, unless one of the payloads was found to be no JSON: it must not hide its neighbours.
if not apart then found = '[[' .. table.concat(found, '],[') .. ']]' end

return { lost, claimed, found, 0, -1, fence, now, missing, counters and '[' .. table.concat(numbers, ',') .. ']' or '' }
