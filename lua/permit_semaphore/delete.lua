-- permit_semaphore/delete: no permits, taken or not, and no counter.
-- KEYS  1 counter   2 permits, a zset: id → expiry, epoch ms   3 channel
-- 1  deleted | 0  there was nothing
-- Must not be repeated: the second run could delete what was set since.
local counter, permits, channel = KEYS[1], KEYS[2], KEYS[3]
--@include permit_semaphore/expired.inc
return redis.call('del', counter, permits) > 0 and 1 or 0
