-- token/force: free a token lock, whoever holds it.
-- docs/internals/wire.md, TokenLock/force
-- KEYS  1 the lock, a string: the token of its owner
-- ARGV  1 channel
-- Answers:
--   1  the lock was held and is free now
--   0  the lock was free
-- Publishes `0` when it freed the lock.
-- Not repeatable: a second run could free the lock of the next owner.
local lock, channel = KEYS[1], ARGV[1]
if not redis.call('get', lock) then -- an error for a key of another type, which is not ours to delete
    return 0
end
redis.call('del', lock)
redis.call('publish', channel, '0')
return 1
