-- lock/release: give back one hold, or the last one.              WIRE.md RLock/release
-- KEYS  1 lock hash   2 channel
-- ARGV  1 owner   2 the count that the hold will have; 0: free the lock   3 lease ms
-- nil  not the owner, nothing changed | 0  still held | 1  freed, `0` published
-- May be repeated: it sets the count; a second last release finds no field and changes nothing.
local lock, channel, owner, count, lease_ms = KEYS[1], KEYS[2], ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
if redis.call('hexists', lock, owner) == 0 then
    return nil
end
if count > 0 then
    redis.call('hset', lock, owner, count)
    if redis.call('pttl', lock) < lease_ms then
        redis.call('pexpire', lock, lease_ms)
    end
    return 0
end
redis.call('del', lock)
redis.call('publish', channel, '0')
return 1
