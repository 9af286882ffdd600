#!lua flags=allow-oom
-- Extends leases, counted from now (G2.3).
-- Keys: 1 held, 2 claims, 3 leased, 4 state.
-- Arguments: 1 length of the leases in ms, then per claim: nonce, fence, number of ids, ids.
-- Answer: places (from 1) of the leases that were lost.
-- Cost: O(log claims) a claim; a claim that is renewed in part is split, for O(its jobs).
-- Safe because: a claim whose end has come is not extended, moved back or not. The jobs of a claim that are not renewed keep
--   their end: the renewed ones get a part of the claim for themselves, with the same nonce and fence.
--@ clock
local held, claims, leased, state = unpack(KEYS)
--@ leases
local till = from + ARGV[1]
local lost = {}
local argument, place = 2, 0

local function split(nonce, fence, mark, ids)
  local part = part_of(nonce, mark)
  local number = '/' .. call('HINCRBY', state, 'parts', 1)
  local list, marks = {}, {}
  for _, id in ipairs(ids) do
    list[#list + 1] = level_in(part, id) .. id
    marks[#marks + 1] = id
    marks[#marks + 1] = fence .. number
  end
  call('HSET', claims, nonce .. number, fence .. ' ' .. table.concat(list), nonce .. number .. '#', #ids)
  call('ZADD', leased, till, nonce .. ':' .. fence .. number)
  call('HSET', held, unpack(marks))
  call('HINCRBY', claims, part .. '#', -#ids)
end

while argument <= #ARGV do
  local nonce, fence, last = ARGV[argument], ARGV[argument + 1], argument + 2 + ARGV[argument + 2]
  local ids = { unpack(ARGV, argument + 3, last) }
  argument = last + 1
  local marks = call('HMGET', held, unpack(ids))
  local by_mark = {}
  for i = 1, #ids do
    local mark = marks[i]
    if mark and belongs(mark, fence) and lives(nonce .. ':' .. mark) then
      by_mark[mark] = by_mark[mark] or {}
      table.insert(by_mark[mark], ids[i])
    else
      lost[#lost + 1] = place + i
    end
  end
  place = place + #ids
  for mark, mine in pairs(by_mark) do
    if tonumber(call('HGET', claims, part_of(nonce, mark) .. '#') or 0) <= #mine then
      call('ZADD', leased, till, nonce .. ':' .. mark)
    else
      split(nonce, fence, mark, mine)
    end
  end
end
return lost
