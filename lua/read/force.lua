-- read/force: free the lock of all its readers.                   WIRE.md ReadWriteLock/read force
-- KEYS  1 lock hash
-- ARGV  1 channel
-- 1  it was read, `0` published | 0  it was free or a writer holds it, nothing changed
-- Must not be repeated: the second run could free the lock of the next owner.
local lock, channel = KEYS[1], ARGV[1]
if redis.call('hget', lock, 'mode') ~= 'read' then
    return 0
end
redis.call('del', lock)
redis.call('publish', channel, '0')
return 1
