-- permit_semaphore/try_set: set how many permits there are, unless the semaphore exists.
-- docs/internals/wire.md, Permit-expirable semaphore/Try set (as Semaphore/try set permits)
-- KEYS  1 counter   2 permits, a zset: id -> expiry, epoch ms   3 channel
-- ARGV  1 n
-- Answers:
--   1  set
--   0  there is a counter already; nothing changed
-- Publishes n when it set the counter.
-- Not repeatable: a second run would answer 0, or set a counter that was deleted in between.
local counter, permits, channel, n = KEYS[1], KEYS[2], KEYS[3], ARGV[1]
--@include permit_semaphore/expired.inc
if available then
    return 0
end
redis.call('set', counter, n)
redis.call('publish', channel, n)
return 1
