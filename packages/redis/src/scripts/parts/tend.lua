-- What time alone has moved. Needs the keys of settle-and-claim.lua and the parts clock and settle.

-- Takes back what an ended claim held (G2.10): charged as an attempt, ready since the end of the lease.
local function take_back(entry, ended_at)
  local mark = string.sub(entry, 38)
  local part = part_of(string.sub(entry, 1, 36), mark)
  local list = string.match(call('HGET', claims, part) or '', '^%d+ (.*)$') or ''
  local ids, levels, gone = {}, {}, {}
  for at = 1, #list, 37 do
    levels[#levels + 1] = string.sub(list, at, at)
    ids[#ids + 1] = string.sub(list, at + 1, at + 36)
  end
  if #ids > 0 then
    local marks = call('HMGET', held, unpack(ids))
    local counters = call('HMGET', meta, unpack(ids))
    for i = 1, #ids do
      if marks[i] == mark then
        local attempt, deliveries, losses, interruptions, redrives, _, unknown_since =
          string.match(counters[i] or FRESH, COUNTERS)
        call('HSET', meta, ids[i], table.concat(
          { attempt + 1, deliveries + 1, losses + 1, interruptions, redrives, 0, unknown_since }, ','))
        call('ZADD', KEYS[11 + levels[i]], ended_at * 1000 - AHEAD + i, ids[i])
        gone[#gone + 1] = ids[i]
      end
    end
    if #gone > 0 then call('HDEL', held, unpack(gone)) end
  end
  call('HDEL', claims, part, part .. '#')
  call('ZREM', leased, entry)
  return #gone
end

local function take_back_ended()
  local entries = call('ZRANGE', leased, '-inf', now, 'BYSCORE', 'LIMIT', 0, 50, 'WITHSCORES')
  local taken = 0
  for i = 1, #entries, 2 do
    taken = taken + take_back(entries[i], entries[i + 1])
    if taken >= 500 then return end
  end
end

-- Moves due jobs into line (G8.2), each to where its due time puts it.
local function move_due()
  local due = call('ZRANGE', scheduled, '-inf', now, 'BYSCORE', 'LIMIT', 0, 500, 'WITHSCORES')
  if #due == 0 then return end
  local members = {}
  for i = 1, #due, 2 do
    call('ZADD', KEYS[11 + string.sub(due[i], 1, 1)], due[i + 1] * 1000, string.sub(due[i], 2))
    members[#members + 1] = due[i]
  end
  call('ZREM', scheduled, unpack(members))
end
