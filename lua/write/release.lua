-- write/release: give back one write hold, or the last one.       WIRE.md ReadWriteLock/write release
-- KEYS  1 lock hash   derived, in the lock's slot: the timeout keys of read holds
-- ARGV  1 channel   2 owner   3 the count that the hold will have   4 lease ms   5 what timeout keys begin with
-- nil  not the owner, nothing changed (no lock there: `1` published) | 0  still held
-- 1    freed, or left to the owner's own reads; `1` published in both cases, so that readers who
--      wait come in beside them
-- May be repeated: it sets the count; a second last release finds no field and changes nothing.
-- What is left to reads lasts as long as they do (Redisson leaves it the writer's PTTL, so that a
-- short read under a long write shuts writers out for the rest of the long lease); reads whose
-- timeouts have all passed are nobody's.
local lock, channel, field = KEYS[1], ARGV[1], ARGV[2] .. ':write'
local count, lease_ms, prefix = ARGV[3], ARGV[4], ARGV[5]
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
