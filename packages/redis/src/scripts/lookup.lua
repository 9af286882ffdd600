#!lua flags=no-writes
-- One job in whatever state, or the record of a completed one (G5.4).
-- Keys: 1 jobs, 2 meta, 3 errors, 4 claims, 5 leased, 6 scheduled, 7 dead, 8 past, 9 to 12 ready jobs by level.
-- Arguments: 1 id.
-- Answer: nothing, or: state, body, counters or '', errors or '', when it is or was due in ms ('': it does not wait), now,
--   when it died in ms ('': it lives), '1': its claim has ended and nobody has taken it back yet.
-- Cost: O(log n), and the jobs of all claims that have ended when it is leased.
-- Safe because: it reads one moment.
--@ clock
local jobs, meta, errors, claims, leased, scheduled, dead, past = unpack(KEYS, 1, 8)
--@ leases
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

local level = string.match(body, '^%d+,(%d)')
local due = call('ZSCORE', scheduled, level .. id)
if due then
  return { tonumber(due) > now and 'scheduled' or 'ready', body, counters, history, due, now, '', '' }
end
local since = tonumber(call('ZSCORE', KEYS[9 + level], id) or nil)
if since then
  if since < 0 then since = since + AHEAD end
  return { 'ready', body, counters, history, string.format('%.0f', math.floor(since / 1000)), now, '', '' }
end

-- It stands in no line, so a claim holds it: one that has ended, or another.
local ended = call('ZRANGE', leased, '-inf', now, 'BYSCORE', 'WITHSCORES')
for i = 1, #ended, 2 do
  local claim, part = read_entry(ended[i])
  local at = claim and place_of(claim, id)
  if at and part_at(claim, at) == part then
    return { 'ready', body, counters, history, ended[i + 1], now, '', '1' }
  end
end
return { 'leased', body, counters, history, '', now, '', '' }
