-- read/force: free the lock of all its readers.
-- docs/internals/wire.md, ReadWriteLock/read force
-- KEYS  1 lock hash
-- ARGV  1 channel
-- Answers:
--   1  readers held it; it is free now
--   0  it was free, or a writer holds it; nothing changed
-- Publishes `0` when it freed the lock.
-- Not repeatable: a second run could free the lock of the next owner.
local lock, channel = KEYS[1], ARGV[1]
if redis.call('hget', lock, 'mode') ~= 'read' then
    return 0
end
redis.call('del', lock)
redis.call('publish', channel, '0')
return 1
