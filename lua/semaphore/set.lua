-- semaphore/set: set how many permits there are, unless the semaphore exists.
-- docs/internals/wire.md, Semaphore/try set permits
-- KEYS  1 counter
-- ARGV  1 channel
--       2 n
--       3 TTL of the counter, ms; 0: no expiry
-- Answers:
--   1  set
--   0  there is a counter already; nothing changed
-- Publishes n when it set the counter.
-- Not repeatable: a second run would answer 0, or set a counter that was deleted in between.
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
