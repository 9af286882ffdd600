#!lua flags=no-writes
-- What is where in a queue (G5.1, G5.2), whether moved already or not.
-- Keys: 1 jobs, 2 claims, 3 leased, 4 scheduled, 5 dead, 6 to 9 ready jobs by level.
-- Arguments: none.
-- Answer: ready, scheduled, leased, dead, age of the oldest ready job in ms (-1: none is ready).
-- Cost: O(log n), and one step for each job of the claims that have ended and were not taken back yet.
-- Safe because: it reads one moment.
--@ clock
local jobs, claims, leased, scheduled, dead = unpack(KEYS, 1, 5)
--@ leases
--@ ended-claims
local ready, oldest = 0, nil

local function consider(since)
  if since and (not oldest or since < oldest) then oldest = since end
end

for level = 6, 9 do
  ready = ready + call('ZCARD', KEYS[level])
  local head = tonumber(call('ZRANGE', KEYS[level], 0, 0, 'WITHSCORES')[2])
  if head and head < 0 then
    consider((head + AHEAD) / 1000)
    head = tonumber(call('ZRANGE', KEYS[level], 0, '+inf', 'BYSCORE', 'LIMIT', 0, 1, 'WITHSCORES')[2])
  end
  consider(head and head / 1000)
end

local due = call('ZCOUNT', scheduled, '-inf', now)
if due > 0 then consider(tonumber(call('ZRANGE', scheduled, 0, 0, 'WITHSCORES')[2])) end

local ended, ended_first = held_by_ended()
consider(ended_first)

local waiting, died = call('ZCARD', scheduled), call('ZCARD', dead)
-- A job stands in one place, and where it stands in none a claim holds it. Below 0 only where somebody else took bodies away.
local claimed = math.max(0, call('HLEN', jobs) - ready - waiting - died)

return {
  ready + due + ended,
  waiting - due,
  math.max(0, claimed - ended),
  died,
  oldest and math.max(0, math.floor(now - oldest)) or -1,
}
