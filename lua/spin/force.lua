-- spin/force: free a spin lock, whoever holds it.
-- docs/internals/wire.md, SpinLock/force
-- KEYS  1 lock hash
-- ARGV  none
-- Answers:
--   1  the lock was held and is free now
--   0  the lock was free
-- Publishes nothing.
-- Not repeatable: a second run could free the lock of the next owner.
local lock = KEYS[1]
if redis.call('hlen', lock) == 0 then -- an error for a key of another type, which is not ours to delete
    return 0
end
redis.call('del', lock)
return 1
