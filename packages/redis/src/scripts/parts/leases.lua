-- A claim is one entry of `leased`, `nonce:mark` with its end; `held` says to which mark a job belongs. The mark is the fence
-- of the claim, and `fence/number` for a part that was renewed by itself. `claims` has, under the nonce and the same number,
-- fence and jobs (level and id, 37 characters each), and under that name with a `#` how many are still held.

-- The name of a part in `claims`.
local function part_of(nonce, mark)
  return nonce .. (string.match(mark, '/%d+$') or '')
end

local function belongs(mark, fence)
  return mark == fence or (mark and string.sub(mark, 1, #fence + 1) == fence .. '/')
end

local living = {}
local function lives(entry)
  local known = living[entry]
  if known == nil then
    local till = call('ZSCORE', leased, entry)
    known = till ~= false and tonumber(till) > now
    living[entry] = known
  end
  return known
end

-- So many jobs have left a claim; with the last one its record goes.
local function leave(nonce, mark, count)
  local part = part_of(nonce, mark)
  if call('HINCRBY', claims, part .. '#', -count) > 0 then return end
  call('HDEL', claims, part, part .. '#')
  call('ZREM', leased, nonce .. ':' .. mark)
end

-- The level of a job that a part of a claim holds, without reading its body, which may be large.
local lists = {}
local function level_in(part, id)
  local list = lists[part] or call('HGET', claims, part) or ''
  lists[part] = list
  local at = string.find(list, id, 1, true)
  return at and string.sub(list, at - 1, at - 1) or '1'
end
