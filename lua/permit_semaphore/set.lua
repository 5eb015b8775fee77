-- permit_semaphore/set: set how many permits there are in all, taken ones included.
-- docs/internals/wire.md, Permit-expirable semaphore/Set permits
-- KEYS  1 counter   2 permits, a zset: id -> expiry, epoch ms   3 channel
-- ARGV  1 n
-- Answers:
--   1  set
--   0  there were n permits already; nothing changed
-- Publishes n when it changed the number.
-- Not repeatable: a second run could undo what another client set in between.
local counter, permits, channel, n = KEYS[1], KEYS[2], KEYS[3], tonumber(ARGV[1])
--@include permit_semaphore/expired.inc
if not available then
    redis.call('set', counter, ARGV[1])
    redis.call('publish', channel, ARGV[1])
    return 1
end
local change = n - tonumber(available) - redis.call('zcard', permits)
if change == 0 then
    return 0
end
redis.call('incrby', counter, string.format('%.0f', change))
redis.call('publish', channel, ARGV[1])
return 1
