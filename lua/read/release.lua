-- read/release: give back one read hold, or the last one.         WIRE.md ReadWriteLock/read release
-- KEYS  1 lock hash   2 what timeout keys begin with (no key)   derived, in their slot: the holds' timeout keys
-- ARGV  1 channel   2 owner   3 the count that the hold will have   4 the most it was ever asked to have
-- nil  not the owner, nothing changed (no lock there: `0` published) | 0  others hold it, or this owner
-- still does | 1  freed, `0` published; also when only holds are left whose timeouts have all passed
-- May be repeated: it sets the count; a second last release finds no field and changes nothing.
-- In mode read the PTTL becomes what the remaining holds still have, which may be less. By more than a second, it is
-- published: `0`; waiters sleep for the PTTL that they were told. Under a writer it is never lowered: the write hold
-- has the same key.
local lock, prefix, channel, owner = KEYS[1], KEYS[2], ARGV[1], ARGV[2]
local count, highest = tonumber(ARGV[3]), tonumber(ARGV[4])
--@include read/levels.inc
--@include read/longest.inc
local mode = redis.call('hget', lock, 'mode')
if not mode then
    redis.call('publish', channel, '0')
    return nil
end
if redis.call('hexists', lock, owner) == 0 then
    return nil
end
for n = count + 1, highest do
    redis.call('del', prefix .. owner .. ':rwlock_timeout:' .. n)
end
if count > 0 then
    redis.call('hset', lock, owner, count)
else
    redis.call('hdel', lock, owner)
end
local longest, pttl = longest_read(), redis.call('pttl', lock)
if mode == 'write' then
    if longest > pttl then
        redis.call('pexpire', lock, longest)
    end
    return 0
end
if longest > 0 then
    redis.call('pexpire', lock, longest)
    if longest + 1000 < pttl then
        redis.call('publish', channel, '0')
    end
    return 0
end
redis.call('del', lock)
redis.call('publish', channel, '0')
return 1
