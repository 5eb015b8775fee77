-- read/acquire: take or re-enter the read side of a read-write lock.
-- docs/internals/wire.md, ReadWriteLock/read acquire
-- KEYS  1 lock hash
--       2 prefix of the timeout keys, as a key that never exists: it makes a cluster answer TRYAGAIN while the slot's
--         keys are on their way
--       The script also uses the timeout keys of read holds, <prefix><owner>:rwlock_timeout:<n>, in its slot.
-- ARGV  1 owner
--       2 lease, ms
--       3 hold count after this acquire
--       4 owner of a session that is over and whose field this acquire replaces, or ''
--       5 owner of the caller's write hold, under which it may read, or ''
--       6 channel; present only together with 4
-- Answers:
--   nil      the owner holds the read lock with that hold count
--   { 1 }    the same, under its own write hold
--   n >= -1  a writer holds the lock; its PTTL in ms (-1: no expiry)
--   -3       the hold count is above 1, but the outer holds are gone; nothing changed
-- A replaced field's lease goes with it: in mode read the lock's PTTL falls to the longest of the others' and this one.
-- Publishes `0` when the replaced field was the only one, or when the PTTL falls by more than a second: waiters sleep
-- for the PTTL that they were told, which may have been longer.
-- Repeatable: but for what it replaces, it only raises the hold count and PTTLs.
local lock, prefix, owner, lease_ms, count = KEYS[1], KEYS[2], ARGV[1], ARGV[2], tonumber(ARGV[3])
local over, writer, channel = ARGV[4], ARGV[5], ARGV[6]
--@include read/levels.inc
--@include read/longest.inc
local mode = redis.call('hget', lock, 'mode')
local held = levels_in(redis.call('hget', lock, owner))
local levels = over ~= '' and redis.call('hget', lock, over)
if levels then
    redis.call('hdel', lock, over)
    for n = 1, levels_in(levels) do
        redis.call('del', prefix .. over .. ':rwlock_timeout:' .. n)
    end
    if redis.call('hlen', lock) == 1 then -- the mode alone
        redis.call('del', lock)
        redis.call('publish', channel, '0')
        mode = false
    elseif mode == 'read' then
        local longest, before = math.max(longest_read(), tonumber(lease_ms)), redis.call('pttl', lock)
        if longest < before then
            redis.call('pexpire', lock, string.format('%.0f', longest))
        end
        if longest + 1000 < before then
            redis.call('publish', channel, '0')
        end
    end
end
local pttl = redis.call('pttl', lock)
if count > 1 and held == 0 then
    return -3
end
local free = pttl == -2
if not free and mode ~= 'read' and (writer == '' or redis.call('hexists', lock, writer .. ':write') == 0) then
    return pttl
end
if free then
    redis.call('hset', lock, 'mode', 'read', owner, ARGV[3])
    local field = owner
    --@include lock/lease.inc
else
    if held < count then
        redis.call('hset', lock, owner, ARGV[3])
    end
    if pttl < tonumber(lease_ms) then
        redis.call('pexpire', lock, lease_ms) -- first: the user may have no right to the other key
    end
end
local timeout = prefix .. owner .. ':rwlock_timeout:' .. count
if redis.call('pttl', timeout) < tonumber(lease_ms) then
    redis.call('set', timeout, '1', 'px', lease_ms)
end
return mode == 'write' and not free and { 1 } or nil
