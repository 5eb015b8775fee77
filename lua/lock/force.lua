-- lock/force: free the lock, whoever holds it.                    WIRE.md RLock/force
-- KEYS  1 lock hash
-- ARGV  1 channel
-- 1  it was held, `0` published | 0  it was free
-- Must not be repeated: the second run could free the lock of the next owner.
local lock, channel = KEYS[1], ARGV[1]
if redis.call('hlen', lock) == 0 then -- an error for a key of another type, which is not ours to delete
    return 0
end
redis.call('del', lock)
redis.call('publish', channel, '0')
return 1
