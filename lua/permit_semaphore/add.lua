-- permit_semaphore/add: change the number of permits by n.
-- docs/internals/wire.md, Permit-expirable semaphore/Add permits
-- KEYS  1 counter   2 permits, a zset: id -> expiry, epoch ms   3 channel
-- ARGV  1 n, positive or negative
-- Answers:
--   1  added; there is no TTL from now on
-- Publishes n if it is above 0.
-- Not repeatable: a second run would add n again.
local counter, permits, channel, n = KEYS[1], KEYS[2], KEYS[3], ARGV[1]
--@include permit_semaphore/expired.inc
redis.call('incrby', counter, n)
local refused = redis.pcall('persist', counter)
if type(refused) == 'table' then -- no right to it; INCRBY undoes what it did itself
    redis.call('incrby', counter, 0 - n)
    if not available then
        redis.pcall('del', counter)
    end
    return refused
end
redis.call('persist', permits) -- those that are taken would end with it, and never come back
if tonumber(n) > 0 then
    redis.call('publish', channel, n)
end
return 1
