-- permit_semaphore/try_set: how many permits there are, unless that is set.
--                                                  WIRE.md Permit-expirable semaphore, as Semaphore/try set
-- KEYS  1 counter   2 permits, a zset: id → expiry, epoch ms   3 channel
-- ARGV  1 n
-- 1  set, n published | 0  there is a counter: nothing changed
-- Must not be repeated: the second run would say 0, or set a counter that was deleted since.
local counter, permits, channel, n = KEYS[1], KEYS[2], KEYS[3], ARGV[1]
--@include permit_semaphore/expired.inc
if available then
    return 0
end
redis.call('set', counter, n)
redis.call('publish', channel, n)
return 1
