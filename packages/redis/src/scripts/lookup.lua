#!lua flags=no-writes
-- One job in whatever state, or the record of a completed one (G5.4).
-- Keys: 1 jobs, 2 meta, 3 errors, 4 held, 5 leased, 6 scheduled, 7 dead, 8 past, 9 to 12 ready jobs by level.
-- Arguments: 1 id.
-- Answer: nothing, or: state, body, counters or '', errors or '', when it is or was due in ms ('': it does not wait), now,
--   when it died in ms ('': it lives), '1': its claim has ended and nobody has taken it back yet.
-- Cost: O(log n), O(claims) when it is leased.
-- Safe because: it reads one moment.
--@ clock
local jobs, meta, errors, held, leased, scheduled, dead, past = unpack(KEYS, 1, 8)
local id = ARGV[1]
local body = call('HGET', jobs, id)

if not body then
  local record = call('HMGET', past, id, id .. '.facts', id .. '.errors')
  if not record[1] then return {} end
  local kind, counters = string.match(record[2], '^(%d),(.*)$')
  return { kind == '1' and 'cancelled' or 'completed', record[1], counters, record[3], '', now, '', '' }
end

local counters = call('HGET', meta, id) or ''
local history = call('HGET', errors, id) or ''
local died = call('ZSCORE', dead, id)
if died then
  return { 'dead', body, counters, history, '', now, string.format('%.0f', math.floor(died / 1000)), '' }
end

local mark = call('HGET', held, id)
if mark then
  local entries = call('ZRANGE', leased, 0, -1, 'WITHSCORES')
  for i = 1, #entries, 2 do
    if string.sub(entries[i], 38) == mark and tonumber(entries[i + 1]) > now then
      return { 'leased', body, counters, history, '', now, '', '' }
    end
  end
  for i = 1, #entries, 2 do
    if string.sub(entries[i], 38) == mark then
      return { 'ready', body, counters, history, entries[i + 1], now, '', '1' }
    end
  end
end

local level = string.match(body, '^%d+,(%d)')
local due = call('ZSCORE', scheduled, level .. id)
if due then
  return { tonumber(due) > now and 'scheduled' or 'ready', body, counters, history, due, now, '', '' }
end
local since = tonumber(call('ZSCORE', KEYS[9 + level], id) or now * 1000)
if since < 0 then since = since + AHEAD end
return { 'ready', body, counters, history, string.format('%.0f', math.floor(since / 1000)), now, '', '' }
