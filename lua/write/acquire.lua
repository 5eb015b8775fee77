-- write/acquire: take or re-enter the write side of a read-write lock.
-- docs/internals/wire.md, ReadWriteLock/write acquire
-- KEYS  1 lock hash
--       2 prefix of the timeout keys, as a key that never exists: it makes a cluster answer TRYAGAIN while the slot's
--         keys are on their way
--       The script also reads the timeout keys of read holds, in its slot.
-- ARGV  1 channel
--       2 owner
--       3 lease, ms
--       4 hold count after this acquire
--       5 owner of a session that is over and whose field this acquire replaces, or ''
-- Answers:
--   { PTTL }  the owner holds the write lock with that hold count; the lock's PTTL in ms
--   n >= -1   others hold the lock; its PTTL in ms (-1: no expiry)
--   -3        the hold count is above 1, but the outer holds are gone; nothing changed
-- Publishes `1` when it replaced a field: read holds of the same owner under it stay, for as long as they last, and
-- waiters sleep for the PTTL that they were told, which may have been longer.
-- Re-entry adds the lease to the PTTL that is left.
-- Repeatable: it adds the lease only when the hold count changes. An earlier, unanswered request for the same count
-- may have had another lease, so the PTTL is raised to at least this request's.
local lock, prefix, channel, field = KEYS[1], KEYS[2], ARGV[1], ARGV[2] .. ':write'
local lease_ms, count, over = ARGV[3], tonumber(ARGV[4]), ARGV[5]
--@include read/levels.inc
--@include read/longest.inc
local mode = redis.call('hget', lock, 'mode')
if over ~= '' and redis.call('hdel', lock, over .. ':write') == 1 then
    local longest = longest_read()
    if longest > 0 then
        redis.call('hset', lock, 'mode', 'read')
        redis.call('pexpire', lock, longest)
        mode = 'read'
    else
        redis.call('del', lock)
        mode = false
    end
    redis.call('publish', channel, '1')
end
local pttl = redis.call('pttl', lock)
if pttl == -2 and count == 1 then
    redis.call('hset', lock, 'mode', 'write', field, '1')
    --@include lock/lease.inc
    return { tonumber(lease_ms) }
end
local held = mode == 'write' and tonumber(redis.call('hget', lock, field) or 0) or 0 -- not a number: nobody's
if held == 0 then
    return count > 1 and -3 or pttl
end
if held < count then
    -- PEXPIRE takes an integer, and Lua's numbers are exact up to 2^53 (about 9e15) only.
    redis.call('pexpire', lock, string.format('%.0f', math.min(pttl + tonumber(lease_ms), 9e15)))
    redis.call('hset', lock, field, count)
elseif pttl < tonumber(lease_ms) then
    redis.call('pexpire', lock, lease_ms)
end
return { redis.call('pttl', lock) }
