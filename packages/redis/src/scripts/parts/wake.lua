-- Wakes one waiting worker; it wakes the next when it leaves jobs behind. Needs `hint`.
local function wake()
  if call('EXISTS', hint) == 0 then call('LPUSH', hint, '1') end
end

-- A sleeping worker has to learn of a job that is due before it would look by itself. Needs `scheduled`.
local function wake_for_due(earliest)
  if not earliest or earliest > now + 60000 then return end
  local head = call('ZRANGE', scheduled, 0, 0, 'WITHSCORES')
  if head[2] and tonumber(head[2]) >= earliest then wake() end
end
