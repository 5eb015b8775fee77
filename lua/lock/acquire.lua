-- lock/acquire: take or re-enter a reentrant, spin or non-reentrant lock.
-- docs/internals/wire.md, RLock/acquire
-- KEYS  1 lock hash
-- ARGV  1 owner
--       2 lease, ms
--       3 hold count after this acquire
--       4 owner of a session that is over and whose field this acquire replaces, or ''
--       5 channel; present only together with 4 or 6, and never for a spin lock, whose waiters hear no messages
--       6 lease with which the owner stands in the registry of waiters (registry.inc), or is to; present only if it may
--         stand there, which it does no longer once it holds the lock
--       7 register the owner if it is refused: since when it has waited, by the server's clock in us, or 0: from now;
--         present only for a waiter that hears messages
-- Answers:
--   nil      the owner holds the lock with that hold count
--   n >= -1  another owner holds it; its PTTL in ms (-1: no expiry)
--   { n, place, foreign, since }  the same, and the owner is registered: how many were registered before it, 1 if the
--            holder is of another library, and since when it has waited
--   -3       the hold count is above 1, but the outer holds are gone; nothing changed
-- Publishes `0`, on the channel and on that of the client of the first registered waiter that hears, when it replaced a
-- field: waiters sleep for the PTTL that they were told, which may have been longer.
-- Repeatable: it sets the hold count instead of adding to it, and never lowers the PTTL. A waiter has one place in the
-- registry.
local lock, owner, lease_ms, count, over, channel = KEYS[1], ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local member, since = ARGV[6] and owner .. ' ' .. ARGV[6], ARGV[7]
local pttl = redis.call('pttl', lock)
if pttl == -2 or (over ~= '' and redis.call('hexists', lock, over) == 1) then
    if count ~= '1' then
        return -3
    end
    redis.call('hset', lock, owner, '1')
    if pttl ~= -2 then
        redis.call('hdel', lock, over)
    end
    local field = owner
    --@include lock/lease.inc
    --@include lock/registered.inc
    if pttl ~= -2 and channel then
        --@include lock/registry.inc
        redis.call('publish', channel, '0')
        --@include lock/first.inc
        --@include lock/waiters.inc
    end
    return nil
end
if redis.call('hexists', lock, owner) == 1 then
    redis.call('hset', lock, owner, count)
    if pttl < tonumber(lease_ms) then
        redis.call('pexpire', lock, lease_ms)
    end
    --@include lock/registered.inc
    return nil
end
if count ~= '1' then
    return -3
end
--@include lock/register.inc
