#!lua flags=allow-oom
-- Extends leases, counted from now (G2.3).
-- Keys: 1 claims, 2 leased.
-- Arguments: 1 length of the leases in ms, then per claim: nonce, fence, number of ids, ids.
-- Answer: places (from 1) of the leases that were lost.
-- Cost: O(log claims) a claim; a claim that is renewed in part is split, for O(its jobs).
-- Safe because: a claim whose end has come is not extended, moved back or not. The jobs of a claim that are not renewed keep
--   their end: the renewed ones get a part of the claim for themselves, with the same nonce and fence.
--@ clock
local claims, leased = unpack(KEYS)
--@ leases
local till = from + ARGV[1]
local lost = {}
local argument, place = 2, 0

-- A name that no part of the claim has. One is always free, since each part holds a job, and a claim at most 500.
local function new_part(claim)
  local known = {}
  for at = 1, claim.size do known[part_at(claim, at) or ''] = true end
  for number = 2, 999 do
    local part = string.format('/%03d', number)
    if not known[part] then return part end
  end
end

local function split(claim, places)
  local part = new_part(claim)
  local states = { string.byte(claim.states, 1, -1) }
  local parts = {}
  for at = 1, claim.size do parts[at] = claim.parts and string.sub(claim.parts, 4 * at - 3, 4 * at) or '/000' end
  for at in pairs(places) do states[at], parts[at] = APART, part end
  claim.states, claim.parts = string.char(unpack(states)), table.concat(parts)
  call('HSET', claims, claim.nonce .. '#', claim.states, claim.nonce .. '/', claim.parts)
  call('ZADD', leased, till, entry_of(claim, part))
end

-- The places of the living leases by their part. The others are lost.
local function by_part(claim, fence, ids)
  local found = {}
  for i, id in ipairs(ids) do
    local at = claim and claim.fence == fence and place_of(claim, id)
    local part = at and part_at(claim, at)
    if part and lives(claim, part) then
      found[part] = found[part] or {}
      found[part][at] = true
    else
      lost[#lost + 1] = place + i
    end
  end
  return found
end

local function are_all(claim, part, places)
  for _, at in ipairs(places_in(claim, part)) do
    if not places[at] then return false end
  end
  return true
end

while argument <= #ARGV do
  local nonce, fence, last = ARGV[argument], ARGV[argument + 1], argument + 2 + ARGV[argument + 2]
  local ids = { unpack(ARGV, argument + 3, last) }
  argument = last + 1
  local claim = open(nonce)
  for part, places in pairs(by_part(claim, fence, ids)) do
    if are_all(claim, part, places) then
      call('ZADD', leased, till, entry_of(claim, part))
    else
      split(claim, places)
    end
  end
  place = place + #ids
end
return lost
