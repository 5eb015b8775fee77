-- object/state: read the time to live of a semaphore or latch.
-- KEYS  1 counter
-- ARGV  none
-- Answers { PTTL, end }:
--   PTTL  ms; -1: no expiry, -2: there is no counter
--   end   when the counter expires, epoch ms by the server's clock; -1, -2 as above
-- Publishes nothing.
-- Repeatable: it changes nothing.
local counter = KEYS[1]
if not redis.call('get', counter) then
    return { -2, -2 }
end
local left_ms = redis.call('pttl', counter)
if left_ms < 0 then
    return { left_ms, left_ms }
end
local time = redis.call('time')
return { left_ms, time[1] * 1000 + math.floor(time[2] / 1000) + left_ms }
