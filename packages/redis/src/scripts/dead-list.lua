#!lua flags=no-writes
-- Dead letters, newest first, in bounded steps (G6.2).
-- Keys: 1 jobs, 2 meta, 3 errors, 4 dead.
-- Arguments: 1 most to show, 2 most to look at, 3 type or '', 4 and 5 time of death and id where the last step ended or '',
--   6 '1': ids alone.
-- Answer: 1 and 2 where this step ended, '' at the end of the list; 3 now; then five values an entry: id, time of death in
--   microseconds, body, counters, errors; with ids alone one.
-- Cost: O(log dead), and O(1) for each it looks at; no more than some megabytes of bodies.
-- Safe because: it reads one moment; the next step begins behind the last entry, by its time and id, wherever it is by then.
--@ clock
local jobs, meta, errors, dead = unpack(KEYS)
local most, looks, wanted, last_at, last_id = tonumber(ARGV[1]), tonumber(ARGV[2]), ARGV[3], ARGV[4], ARGV[5]
local ids_alone = ARGV[6] == '1'
local answer = { '', '', now }
local shown, bytes = 0, 0
local start = last_at == '' and '+inf' or last_at
local found = call('ZRANGE', dead, start, '-inf', 'BYSCORE', 'REV', 'LIMIT', 0, looks, 'WITHSCORES')

for i = 1, #found, 2 do
  local id, at = found[i], found[i + 1]
  -- Entries of one microsecond stand in falling order of their ids.
  if not (at == last_at and id >= last_id) then
    local body = call('HGET', jobs, id) or ''
    bytes = bytes + #body
    if wanted == '' or string.match(body, '^[^"]*"([^"]*)"') == wanted then
      if shown == most then return answer end
      shown = shown + 1
      answer[#answer + 1] = id
      if not ids_alone then
        answer[#answer + 1] = at
        answer[#answer + 1] = body
        answer[#answer + 1] = call('HGET', meta, id) or ''
        answer[#answer + 1] = call('HGET', errors, id) or ''
      end
    end
  end
  answer[1], answer[2] = at, id
  -- Large bodies end a step early: whoever asks goes on from here.
  if bytes > 4000000 then return answer end
end
if #found < looks * 2 then answer[1], answer[2] = '', '' end
return answer
