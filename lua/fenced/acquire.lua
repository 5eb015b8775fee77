-- fenced/acquire: take or re-enter a fenced lock, with a new fencing token each time.
-- docs/internals/wire.md, Fenced lock
-- KEYS  1 lock hash
--       2 token counter, a string without TTL that outlives the lock
-- ARGV  1 owner
--       2 lease, ms
--       3 hold count after this acquire
--       4 owner of a session that is over and whose field this acquire replaces, or ''
--       5 channel; present only together with 4 or 6
--       6 and 7 as for lock/acquire
-- Answers:
--   { token }  the owner holds the lock with that hold count
--   n >= -1    another owner holds it; its PTTL in ms (-1: no expiry)
--   { n, place, foreign, since }  the same, and the owner is registered: see lock/acquire
--   -3         the hold count is above 1, but the outer holds are gone; nothing changed
-- Publishes `0` when it replaced a field, as lock/acquire.
-- Repeatable: it sets the hold count instead of adding to it and never lowers the PTTL. A token whose answer was
-- lost is skipped.
-- An error, and nothing changed, if the counter is negative.
-- The token is answered as text, because Lua's numbers are not exact above 2^53, and a counter may start at a time
-- in nanoseconds.
local lock, counter = KEYS[1], KEYS[2]
local owner, lease_ms, count, over, channel = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local member, since = ARGV[6] and owner .. ' ' .. ARGV[6], ARGV[7]
local pttl = redis.call('pttl', lock)
if pttl == -2 or (over ~= '' and redis.call('hexists', lock, over) == 1) then
    if count ~= '1' then
        return -3
    end
    --@include fenced/draw.inc
    redis.call('hset', lock, owner, '1')
    if pttl ~= -2 then
        redis.call('hdel', lock, over)
    end
    local field = owner
    --@include lock/lease.inc
    --@include lock/registered.inc
    if pttl ~= -2 then
        --@include lock/registry.inc
        redis.call('publish', channel, '0')
        --@include lock/first.inc
        --@include lock/waiters.inc
    end
    return { redis.call('get', counter) }
end
if redis.call('hexists', lock, owner) == 1 then
    --@include fenced/draw.inc
    redis.call('hset', lock, owner, count)
    if pttl < tonumber(lease_ms) then
        redis.call('pexpire', lock, lease_ms)
    end
    --@include lock/registered.inc
    return { redis.call('get', counter) }
end
if count ~= '1' then
    return -3
end
--@include lock/register.inc
