-- write/acquire: take the write lock, or take it once more.       WIRE.md ReadWriteLock/write acquire
-- KEYS  1 lock hash   2 what timeout keys begin with (no key)   derived, in their slot: the timeout keys of read holds
-- ARGV  1 channel   2 owner   3 lease ms   4 the count that the hold will have
--       5 an owner whose session is over and whose field this one replaces, or ''
-- { PTTL }  held, with that count | n ≥ -1  others hold it, for n more ms (-1: no end)
-- -3   the count is above 1, but the outer holds are gone: nothing changed
-- Re-entry adds its lease to what is left. May be repeated: it adds only when the count changes. Where an earlier
-- request of the same count went unanswered, its own lease may be another: the PTTL is this one's at least.
-- `1` is published when a field was replaced: reads of the same owner beneath it stay, alone, as long as they last;
-- and waiters were told of a PTTL that may have been longer.
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
    redis.call('pexpire', lock, lease_ms)
    return { tonumber(lease_ms) }
end
local held = mode == 'write' and tonumber(redis.call('hget', lock, field) or 0) or 0 -- not a number: nobody's
if held == 0 then
    return count > 1 and -3 or pttl
end
if held < count then
    -- in whole digits, and no more than a number of Lua can tell apart
    redis.call('pexpire', lock, string.format('%.0f', math.min(pttl + tonumber(lease_ms), 9e15)))
    redis.call('hset', lock, field, count)
elseif pttl < tonumber(lease_ms) then
    redis.call('pexpire', lock, lease_ms)
end
return { redis.call('pttl', lock) }
