-- lock/force: free a lock, whoever holds it.
-- docs/internals/wire.md, RLock/force
-- KEYS  1 lock hash
-- ARGV  1 channel
-- Answers:
--   1  the lock was held and is free now
--   0  the lock was free
-- Publishes `0` when it freed the lock, on the channel and on that of the client of the first registered waiter that
-- hears.
-- Not repeatable: a second run could free the lock of the next owner.
local lock, channel = KEYS[1], ARGV[1]
--@include lock/registry.inc
if redis.call('hlen', lock) == 0 then -- an error for a key of another type, which is not ours to delete
    return 0
end
redis.call('del', lock)
redis.call('publish', channel, '0')
--@include lock/first.inc
--@include lock/waiters.inc
return 1
