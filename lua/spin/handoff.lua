-- spin/handoff: release the last hold and give the lock to a waiter of the releaser's process, in one step.
-- docs/internals/wire.md, SpinLock/handoff
-- KEYS  1 lock hash
-- ARGV  1 owner, which releases
--       2 successor: the owner that receives the lock
--       3 lease that the successor asked for, ms
-- Answers:
--   2    the successor holds the lock with hold count 1
--   3    the owner does not hold the lock, but the successor does, for that lease at least
--   0    the lock was freed, because the user has no right to HDEL
--   nil  neither the owner nor the successor holds the lock; nothing changed
-- Publishes nothing.
-- Repeatable: only a run that finds the owner's field hands the lock over, which happens once. A second run finds
-- the successor's field or nothing.
local lock, owner, heir, lease_ms = KEYS[1], ARGV[1], ARGV[2], ARGV[3]
if redis.call('hexists', lock, owner) == 0 then
    if redis.call('hexists', lock, heir) == 0 then
        return nil
    end
    if redis.call('pttl', lock) < tonumber(lease_ms) then
        redis.call('pexpire', lock, lease_ms) -- a late question of its own may have set another
    end
    return 3
end
-- The order of the writes matters, as in lock/handoff.
redis.call('pexpire', lock, lease_ms)
redis.call('hset', lock, heir, '1')
if type(redis.pcall('hdel', lock, owner)) == 'table' then -- without the right to this, both would stand there
    redis.call('del', lock)
    return 0
end
return 2
