-- permit_semaphore/state: who asks: how many permits are available, and how many are taken?
-- KEYS  1 counter   2 permits, a zset: id → expiry, epoch ms   3 channel
-- { available as text (nil: no counter), taken }
-- Expired permits are given back first: the number available is published.
-- May be repeated: the second run finds none that the first one did.
local counter, permits, channel = KEYS[1], KEYS[2], KEYS[3]
--@include permit_semaphore/expired.inc
take_back()
return { redis.call('get', counter), redis.call('zcard', permits) }
