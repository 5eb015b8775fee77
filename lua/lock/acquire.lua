-- lock/acquire: take or re-enter a reentrant, spin or non-reentrant lock.
-- docs/internals/wire.md, RLock/acquire
-- KEYS  1 lock hash
-- ARGV  1 owner
--       2 lease, ms
--       3 hold count after this acquire
--       4 owner of a session that is over and whose field this acquire replaces, or ''
--       5 channel; present only together with 4, and never for a spin lock, whose waiters hear no messages
-- Answers:
--   nil      the owner holds the lock with that hold count
--   n >= -1  another owner holds it; its PTTL in ms (-1: no expiry)
--   -3       the hold count is above 1, but the outer holds are gone; nothing changed
-- Publishes `0` when it replaced a field: waiters sleep for the PTTL that they were told, which may have been longer.
-- Repeatable: it sets the hold count instead of adding to it, and never lowers the PTTL.
local lock, owner, lease_ms, count, over, channel = KEYS[1], ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local pttl = redis.call('pttl', lock)
if pttl == -2 or (over ~= '' and redis.call('hexists', lock, over) == 1) then
    if count ~= '1' then
        return -3
    end
    redis.call('hset', lock, owner, '1')
    if pttl ~= -2 then
        redis.call('hdel', lock, over)
    end
    redis.call('pexpire', lock, lease_ms)
    if pttl ~= -2 and channel then
        redis.call('publish', channel, '0')
    end
    return nil
end
if redis.call('hexists', lock, owner) == 0 then
    return count ~= '1' and -3 or pttl
end
redis.call('hset', lock, owner, count)
if pttl < tonumber(lease_ms) then
    redis.call('pexpire', lock, lease_ms)
end
return nil
