-- read/acquire: take the read lock, or take it once more.         WIRE.md ReadWriteLock/read acquire
-- KEYS  1 lock hash   2 what timeout keys begin with (no key)   derived, in their slot: the holds' timeout keys,
--       <prefix><owner>:rwlock_timeout:<n>
-- ARGV  1 owner   2 lease ms   3 the count that the hold will have
--       4 an owner whose session is over and whose field this one replaces, or ''
--       5 the owner's write hold, under which it may read, or ''   6 channel; only with 4
-- nil  held, with that count | { 1 }  held beneath the write hold, with that count
-- n ≥ -1  a writer holds it, for n more ms (-1: no end)
-- -3   the count is above 1, but the outer holds are gone: nothing changed
-- Publishes `0` when the replaced field was the only one: waiters were told of a PTTL that may have been longer.
-- May be repeated: it only raises the count and PTTLs.
local lock, prefix, owner, lease_ms, count = KEYS[1], KEYS[2], ARGV[1], ARGV[2], tonumber(ARGV[3])
local over, writer, channel = ARGV[4], ARGV[5], ARGV[6]
--@include read/levels.inc
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
    redis.call('hset', lock, 'mode', 'read')
end
if held < count then
    redis.call('hset', lock, owner, ARGV[3])
end
if pttl < tonumber(lease_ms) then
    redis.call('pexpire', lock, lease_ms) -- first: the user may have no right to the other key
end
local timeout = prefix .. owner .. ':rwlock_timeout:' .. count
if redis.call('pttl', timeout) < tonumber(lease_ms) then
    redis.call('set', timeout, '1', 'px', lease_ms)
end
return mode == 'write' and not free and { 1 } or nil
