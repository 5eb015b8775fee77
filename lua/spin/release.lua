-- spin/release: give back one hold, or the last one.              WIRE.md SpinLock/release
-- KEYS  1 lock hash
-- ARGV  1 owner   2 the count that the hold will have; 0: free the lock   3 lease ms
-- nil  not the owner, nothing changed | 0  still held | 1  freed; nothing is published
-- May be repeated: it sets the count; a second last release finds no field and changes nothing.
local lock, owner, count, lease_ms = KEYS[1], ARGV[1], ARGV[2], ARGV[3]
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
return 1
