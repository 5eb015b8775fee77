-- write/release: give back one write hold, or the last one.       WIRE.md ReadWriteLock/write release
-- KEYS  1 lock hash   2 what timeout keys begin with (no key)   derived, in their slot: the timeout keys of read holds
-- ARGV  1 channel   2 owner   3 the count that the hold will have   4 lease ms
-- nil  not the owner, nothing changed (no lock there: `1` published) | 0  still held
-- 1    freed, or left to the owner's own reads; `1` published in both cases, so that readers who
--      wait come in beside them
-- May be repeated: it sets the count; a second last release finds no field and changes nothing.
-- What is left to reads lasts as long as they do (Redisson leaves it the writer's PTTL, so that a
-- short read under a long write shuts writers out for the rest of the long lease); reads whose
-- timeouts have all passed are nobody's.
local lock, prefix, channel, field = KEYS[1], KEYS[2], ARGV[1], ARGV[2] .. ':write'
local count, lease_ms = ARGV[3], ARGV[4]
--@include read/levels.inc
--@include read/longest.inc
local mode = redis.call('hget', lock, 'mode')
if not mode then
    redis.call('publish', channel, '1')
    return nil
end
if redis.call('hexists', lock, field) == 0 then
    return nil
end
if count ~= '0' then
    redis.call('hset', lock, field, count)
    if redis.call('pttl', lock) < tonumber(lease_ms) then
        redis.call('pexpire', lock, lease_ms)
    end
    return 0
end
redis.call('hdel', lock, field)
local longest = longest_read()
if longest > 0 then
    redis.call('hset', lock, 'mode', 'read')
    redis.call('pexpire', lock, longest)
else
    redis.call('del', lock)
end
redis.call('publish', channel, '1')
return 1
