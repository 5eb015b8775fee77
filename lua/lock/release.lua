-- lock/release: give back one hold, or the last one.              WIRE.md RLock/release
-- KEYS  1 lock hash
-- ARGV  1 channel   2 owner   3 the count that the hold will have; 0: free the lock   4 lease ms
--       The channel is no key: as one that is missing it would stop the script while the slot moves.
-- nil  not the owner, nothing changed | 0  still held | 1  freed, `0` published
-- May be repeated: it sets the count; a second last release finds no field and changes nothing.
local lock, channel, owner, count, lease_ms = KEYS[1], ARGV[1], ARGV[2], ARGV[3], ARGV[4]
if redis.call('hexists', lock, owner) == 0 then
    return nil
end
if count ~= '0' then
    redis.call('hset', lock, owner, count)
    if redis.call('pttl', lock) < tonumber(lease_ms) then
        redis.call('pexpire', lock, lease_ms)
    end
    return 0
end
redis.call('del', lock)
redis.call('publish', channel, '0')
return 1
