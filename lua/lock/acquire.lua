-- lock/acquire: take the lock, or take it once more.              WIRE.md RLock/acquire
-- KEYS  1 lock hash
-- ARGV  1 owner   2 lease ms   3 the count that the hold will have
--       4 an owner whose session is over and whose field this one replaces, or ''
--       5 channel; only with 4, and none for a lock whose waiters hear no messages
-- nil  held, with that count | n ≥ -1  another holds it, for n more ms (-1: no end)
-- -3   the count is above 1, but the outer holds are gone: nothing changed
-- Publishes `0` when a field was replaced: waiters were told of a PTTL that may have been longer.
-- May be repeated: it sets the count instead of raising it, and never lowers the PTTL.
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
