-- permit_semaphore/add: n permits more, or fewer.   WIRE.md Permit-expirable semaphore/Add permits
-- KEYS  1 counter   2 permits, a zset: id → expiry, epoch ms   3 channel
-- ARGV  1 n, of any sign
-- 1  added; n published when above 0; the counter has no TTL any more
-- Must not be repeated: the second run would add n again.
local counter, permits, channel, n = KEYS[1], KEYS[2], KEYS[3], ARGV[1]
--@include permit_semaphore/expired.inc
redis.call('incrby', counter, n)
redis.call('persist', counter)
if tonumber(n) > 0 then
    redis.call('publish', channel, n)
end
return 1
