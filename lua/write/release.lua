-- write/release: give back one write hold, or the last one.       WIRE.md ReadWriteLock/write release
-- KEYS  1 lock hash   2 channel
-- ARGV  1 owner   2 the count that the hold will have   3 lease ms
-- nil  not the owner, nothing changed (no lock there: `1` published) | 0  still held
-- 1    freed, or left to the owner's own reads; `1` published in both cases, so that readers who
--      wait come in beside them
-- May be repeated: it sets the count; a second last release finds no field and changes nothing.
local lock, channel, field = KEYS[1], KEYS[2], ARGV[1] .. ':write'
local count, lease_ms = tonumber(ARGV[2]), tonumber(ARGV[3])
local mode = redis.call('hget', lock, 'mode')
if not mode then
    redis.call('publish', channel, '1')
    return nil
end
if redis.call('hexists', lock, field) == 0 then
    return nil
end
if count > 0 then
    redis.call('hset', lock, field, count)
    if redis.call('pttl', lock) < lease_ms then
        redis.call('pexpire', lock, lease_ms)
    end
    return 0
end
redis.call('hdel', lock, field)
if redis.call('hlen', lock) == 1 then -- the mode alone
    redis.call('del', lock)
else
    redis.call('hset', lock, 'mode', 'read')
end
redis.call('publish', channel, '1')
return 1
