-- semaphore/set: how many permits there are, unless that is set.  WIRE.md Semaphore/try set permits
-- KEYS  1 counter
-- ARGV  1 channel   2 n   3 time to live ms; 0: no end
-- 1  set, n published | 0  there is a counter: nothing changed
-- Must not be repeated: the second run would say 0, or set a counter that was deleted since.
local counter, channel, n, ttl_ms = KEYS[1], ARGV[1], ARGV[2], ARGV[3]
--@include semaphore/permits.inc
if permits then
    return 0
end
if ttl_ms == '0' then
    redis.call('set', counter, n)
else
    redis.call('set', counter, n, 'px', ttl_ms)
end
redis.call('publish', channel, n)
return 1
