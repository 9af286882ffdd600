-- Ends of leases. Needs the keys and locals of settle-and-claim.lua and the parts clock and leases.
local place, returns = 0, 0

-- Completions of one claim: the jobs from the first to the last place of each row.
local function complete(nonce, fence, rows)
  local claim = open(nonce)
  local is_ours = claim and claim.fence == fence
  local each = is_ours and { string.byte(claim.states, 1, -1) } or {}
  local gone, parts_left = {}, {}
  for first, last in string.gmatch(rows, '(%d+) (%d+)') do
    for at = tonumber(first), tonumber(last) do
      place = place + 1
      local part = each[at] == HELD and '' or each[at] == APART and part_at(claim, at)
      if part and lives(claim, part) then
        each[at] = LEFT
        gone[#gone + 1] = id_at(claim, at)
        parts_left[part] = true
      else
        lost[#lost + 1] = place
      end
    end
  end
  if #gone == 0 then return end
  call('HDEL', jobs, unpack(gone))
  save(claim, string.char(unpack(each)), parts_left)
end

local function add_error(id, text)
  local entry = '{"at":' .. now .. ',"error":' .. text .. '}'
  local entries = {}
  for line in string.gmatch(call('HGET', errors, id) or '', '[^\n]+') do entries[#entries + 1] = line end
  -- The first one stays, the ones behind it go.
  while #entries >= tonumber(ARGV[5]) do table.remove(entries, 2) end
  entries[#entries + 1] = entry
  call('HSET', errors, id, table.concat(entries, '\n'))
end

local function put_back(id, level, delay)
  if delay > 0 then
    call('ZADD', scheduled, from + delay, level .. id)
    if not earliest or from + delay < earliest then earliest = from + delay end
  else
    call('ZADD', KEYS[10 + level], us - AHEAD + returns, id)
    returns = returns + 1
    came_back = true
  end
end

local function end_for_good(id, counters, cancelled)
  if ARGV[6] ~= '0' then
    call('HSET', KEYS[15], id, call('HGET', jobs, id) or '', id .. '.facts', cancelled .. ',' .. counters,
      id .. '.errors', call('HGET', errors, id) or '')
    call('ZADD', KEYS[14], us, id)
  end
  for _, key in ipairs({ meta, errors, jobs }) do call('HDEL', key, id) end
end

local function counters_after(id, kind, reason)
  local attempt, deliveries, losses, interruptions, redrives, backed_off, unknown_since =
    string.match(call('HGET', meta, id) or FRESH, COUNTERS)
  if kind == '4' then
    if reason == '1' then interruptions = interruptions + 1 end
    if reason == '3' then backed_off = 1 end
    if reason == '2' and unknown_since == '0' then unknown_since = now end
    if reason == '1' or reason == '3' or reason == '4' then unknown_since = 0 end
  else
    attempt, losses, backed_off, unknown_since = attempt + 1, 0, 0, 0
  end
  return table.concat(
    { attempt, deliveries + 1, losses, interruptions, redrives, backed_off, unknown_since }, ',')
end

-- One settlement of any kind.
local function settle(nonce, fence, id, kind, delay, reason, text)
  place = place + 1
  local claim = open(nonce)
  local at = claim and claim.fence == fence and place_of(claim, id)
  local part = at and part_at(claim, at)
  if not part or not lives(claim, part) then
    lost[#lost + 1] = place
    return
  end
  local counters = counters_after(id, kind, reason)
  if kind == '0' or kind == '1' then
    end_for_good(id, counters, kind)
  else
    call('HSET', meta, id, counters)
    if text ~= '' then add_error(id, text) end
    if kind == '3' then
      call('ZADD', dead, us + place, id)
    else
      put_back(id, level_at(claim, at), tonumber(delay))
    end
  end
  leave(claim, at)
end

-- Records of completed jobs are kept for a time, and no more than so many.
local function trim_records()
  local old = call('ZRANGE', KEYS[14], '-inf', us - ARGV[6] * 1000, 'BYSCORE', 'LIMIT', 0, 500)
  local excess = call('ZCARD', KEYS[14]) - ARGV[7]
  if #old == 0 and excess > 0 then old = call('ZRANGE', KEYS[14], 0, math.min(excess, 500) - 1) end
  for _, id in ipairs(old) do
    call('HDEL', KEYS[15], id, id .. '.facts', id .. '.errors')
    call('ZREM', KEYS[14], id)
  end
end
