-- signal/release: release one hold of a signal-list lock, or free it with the last one and signal to one waiter.
-- docs/internals/wire.md, SignalLock/release
-- KEYS  1 the lock, a string: the token of its owner
--       2 the signal list
-- ARGV  1 owner's token
--       2 hold count after this release; 0: free the lock
--       3 lease, ms
-- Answers:
--   nil  the owner does not hold the lock; nothing changed
--   0    the owner still holds the lock
--   1    freed
-- Publishes nothing: who waits longest in BLPOP for the list gets its element.
-- Repeatable: a second last release finds another token or none and changes nothing.
--@include signal/signal.inc
local lock, list, owner, count, lease_ms = KEYS[1], KEYS[2], ARGV[1], ARGV[2], ARGV[3]
if redis.call('get', lock) ~= owner then
    return nil
end
if count ~= '0' then
    if redis.call('pttl', lock) < tonumber(lease_ms) then
        redis.call('pexpire', lock, lease_ms)
    end
    return 0
end
signal(list)
redis.call('del', lock)
return 1
