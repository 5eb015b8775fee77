-- write/force: free the lock of its writer.
-- docs/internals/wire.md, ReadWriteLock/write force
-- KEYS  1 lock hash
-- ARGV  1 channel
-- Answers:
--   1  a writer held it; it is free now
--   0  it was free, or readers hold it; nothing changed
-- Publishes `1` when it freed the lock.
-- Not repeatable: a second run could free the lock of the next owner.
local lock, channel = KEYS[1], ARGV[1]
if redis.call('hget', lock, 'mode') ~= 'write' then
    return 0
end
redis.call('del', lock)
redis.call('publish', channel, '1')
return 1
