-- What time alone has moved. Needs the keys and locals of settle-and-claim.lua and the parts clock and leases.

-- Takes back what an ended claim held (G2.10): charged as an attempt, ready since the end of the lease.
local function take_back(entry, ended_at)
  local claim, part = read_entry(entry)
  local places = claim and places_in(claim, part) or {}
  if #places > 0 then
    local ids = {}
    for i, at in ipairs(places) do ids[i] = id_at(claim, at) end
    local counters = call('HMGET', meta, unpack(ids))
    local each = { string.byte(claim.states, 1, -1) }
    for i, at in ipairs(places) do
      local attempt, deliveries, losses, interruptions, redrives, _, unknown_since =
        string.match(counters[i] or FRESH, COUNTERS)
      call('HSET', meta, ids[i], table.concat(
        { attempt + 1, deliveries + 1, losses + 1, interruptions, redrives, 0, unknown_since }, ','))
      call('ZADD', KEYS[10 + level_at(claim, at)], ended_at * 1000 - AHEAD + i, ids[i])
      each[at] = LEFT
    end
    save(claim, string.char(unpack(each)), { [part] = true })
  else
    call('ZREM', leased, entry)
  end
  return #places
end

-- Some of the entries that have ended, with their ends.
local function take_back_ended(entries)
  local taken = 0
  for i = 1, #entries, 2 do
    taken = taken + take_back(entries[i], entries[i + 1])
    if taken >= 500 then return end
  end
end

-- Moves due jobs, given with their times, into line (G8.2), each to where its due time puts it.
local function move_due(due)
  if #due == 0 then return end
  local members = {}
  for i = 1, #due, 2 do
    call('ZADD', KEYS[10 + string.sub(due[i], 1, 1)], due[i + 1] * 1000, string.sub(due[i], 2))
    members[#members + 1] = due[i]
  end
  call('ZREM', scheduled, unpack(members))
end
