-- The clock of the server, which alone decides what is due and what has ended (G8.1).
local call = redis.call
local time = call('TIME')
local us = time[1] * 1000000 + time[2]
local now = math.floor(us / 1000)
-- Due times and ends of leases count from here, rounded up: nothing is early.
local from = math.ceil(us / 1000)
-- Ready jobs stand in the order of the microsecond they became ready. One that comes back without a delay stands before all
-- that never left: at the time of its return, so much earlier.
local AHEAD = 4000000000000000
