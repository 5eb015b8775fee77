-- write/force: free the lock of its writer.                       WIRE.md ReadWriteLock/write force
-- KEYS  1 lock hash
-- ARGV  1 channel
-- 1  it was written, `1` published | 0  it was free or readers hold it, nothing changed
-- Must not be repeated: the second run could free the lock of the next owner.
local lock, channel = KEYS[1], ARGV[1]
if redis.call('hget', lock, 'mode') ~= 'write' then
    return 0
end
redis.call('del', lock)
redis.call('publish', channel, '1')
return 1
