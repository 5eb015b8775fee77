-- semaphore/drain: take all permits that are available.
-- docs/internals/wire.md, Semaphore/drain
-- KEYS  1 counter
-- ARGV  none
-- Answers the number of permits that were available, as text; 0 when there was no counter. Now there are none, and
-- the counter has no TTL. A number that does not fit in 32 bits is answered, but left as it is.
-- Publishes nothing.
-- Not repeatable: the permits of a first run whose answer was lost would be lost, too.
local counter = KEYS[1]
--@include semaphore/permits.inc
if not permits then
    return 0
end
if tonumber(permits) >= -2147483648 and tonumber(permits) <= 2147483647 then
    redis.call('set', counter, 0)
end
return permits
