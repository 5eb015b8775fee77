-- semaphore/drain: take all the permits that there are.           WIRE.md Semaphore/drain
-- KEYS  1 counter
-- the number of permits that there were, as text; 0 without a counter. There are none now, and the
-- counter has no TTL any more. A number that does not fit in 32 bits is answered and left alone.
-- Must not be repeated: the first run's permits would be lost.
local counter = KEYS[1]
--@include semaphore/permits.inc
if not permits then
    return 0
end
if tonumber(permits) >= -2147483648 and tonumber(permits) <= 2147483647 then
    redis.call('set', counter, 0)
end
return permits
