-- How many jobs are still held by claims that have ended, and when the first of these ended: they are ready, though nobody has
-- taken them back yet. Needs `leased`, `claims` and the part leases.
local function held_by_ended()
  local sum, first = 0, nil
  local entries = call('ZRANGE', leased, '-inf', now, 'BYSCORE', 'WITHSCORES')
  for i = 1, #entries, 2 do
    local claim, part = read_entry(entries[i])
    local jobs = claim and #places_in(claim, part) or 0
    if jobs > 0 and not first then first = tonumber(entries[i + 1]) end
    sum = sum + jobs
  end
  return sum, first
end
