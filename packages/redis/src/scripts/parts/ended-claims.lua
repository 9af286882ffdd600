-- How many jobs are still held by claims that have ended, and when the first of these ended: they are ready, though nobody has
-- taken them back yet. Needs `leased` and `claims`.
local function held_by_ended()
  local sum, first = 0, nil
  local entries = call('ZRANGE', leased, '-inf', now, 'BYSCORE', 'WITHSCORES')
  for i = 1, #entries, 2 do
    local part = string.sub(entries[i], 1, 36) .. (string.match(entries[i], '/%d+$') or '')
    local jobs = tonumber(call('HGET', claims, part .. '#') or 0)
    if jobs > 0 and not first then first = tonumber(entries[i + 1]) end
    sum = sum + jobs
  end
  return sum, first
end
