-- signal/force: free a signal-list lock, whoever holds it, and signal to one waiter.
-- docs/internals/wire.md, SignalLock/force
-- KEYS  1 the lock, a string: the token of its owner
--       2 the signal list
-- Answers:
--   1  the lock was held and is free now
--   0  the lock was free
-- Publishes nothing.
-- Not repeatable: a second run could free the lock of the next owner.
--@include signal/signal.inc
local lock, list = KEYS[1], KEYS[2]
if not redis.call('get', lock) then -- an error for a key of another type, which is not ours to delete
    return 0
end
signal(list)
redis.call('del', lock)
return 1
