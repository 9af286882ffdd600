-- A claim is fields of `claims`. Under its nonce, what it took, which never changes: its fence, the levels of its jobs, a
-- character each, and their ids, 36 characters each, with a space between. Under the nonce and `#`, of each job: 0 it has left,
-- 1 held until the end that the claim was given, 2 until another, since it was renewed by itself. Under the nonce and `/`,
-- once there is such a job, of each the part of the claim that it belongs to, as `/002`. `leased` has the end of each part:
-- of the first as `nonce:fence`, of the others as `nonce:fence/002`.
local LEFT, HELD, APART = 48, 49, 50

-- The claims that this call has looked at; false: there is none.
local opened = {}
local function open(nonce)
  local claim = opened[nonce]
  if claim ~= nil then return claim end
  local fields = call('HMGET', claims, nonce, nonce .. '#', nonce .. '/')
  local record, states = fields[1], fields[2]
  local fence = record and states and string.match(record, '^%d+')
  claim = false
  if fence then
    local size = #states
    claim = { nonce = nonce, record = record, states = states, parts = fields[3], size = size,
      fence = fence, ids = #record - 36 * size, living = {}, searches = 0 }
  end
  opened[nonce] = claim
  return claim
end

local function id_at(claim, at)
  return string.sub(claim.record, claim.ids + 36 * at - 35, claim.ids + 36 * at)
end

local function level_at(claim, at)
  return string.sub(claim.record, #claim.fence + 1 + at, #claim.fence + 1 + at)
end

-- Where a job stands in its claim; nil: nowhere. A search reads half of the ids, so of many jobs a table is made.
local function place_of(claim, id)
  if claim.places then return claim.places[id] end
  claim.searches = claim.searches + 1
  if claim.searches < 8 then
    local from = string.find(claim.record, id, claim.ids + 1, true)
    return from and (from - claim.ids + 35) / 36
  end
  claim.places = {}
  for at = 1, claim.size do claim.places[id_at(claim, at)] = at end
  return claim.places[id]
end

-- The part that holds a job of the claim: '' the first. Nil: the job has left.
local function part_at(claim, at)
  local state = string.byte(claim.states, at)
  if state == HELD then return '' end
  if state == APART then return claim.parts and string.sub(claim.parts, 4 * at - 3, 4 * at) or '' end
end

-- The places of all that a part still holds.
local function places_in(claim, part)
  local places = {}
  for at = 1, claim.size do
    if part_at(claim, at) == part then places[#places + 1] = at end
  end
  return places
end

local function entry_of(claim, part)
  return claim.nonce .. ':' .. claim.fence .. part
end

-- The claim and the part of an entry of `leased`; false for a claim without a record.
local function read_entry(entry)
  return open(string.sub(entry, 1, 36)), string.match(entry, '/%d+$') or ''
end

local function lives(claim, part)
  local known = claim.living[part]
  if known == nil then
    local till = call('ZSCORE', leased, entry_of(claim, part))
    known = till ~= false and tonumber(till) > now
    claim.living[part] = known
  end
  return known
end

-- Whether a part holds no job any more.
local function is_empty(claim, part)
  if part == '' then return not string.find(claim.states, '1', 1, true) end
  return #places_in(claim, part) == 0
end

-- Writes which jobs have left. Parts without jobs go, and with its last job all of the claim.
local function save(claim, states, parts_left)
  claim.states = states
  if states == string.rep('0', claim.size) then
    call('HDEL', claims, claim.nonce, claim.nonce .. '#', claim.nonce .. '/')
    opened[claim.nonce] = false
  else
    call('HSET', claims, claim.nonce .. '#', states)
  end
  for part in pairs(parts_left) do
    if is_empty(claim, part) then call('ZREM', leased, entry_of(claim, part)) end
  end
end

-- One job leaves its claim.
local function leave(claim, at)
  local states = claim.states
  save(claim, string.sub(states, 1, at - 1) .. '0' .. string.sub(states, at + 1), { [part_at(claim, at)] = true })
end
