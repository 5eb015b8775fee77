-- read/release: release one read hold, or the owner's last one.
-- docs/internals/wire.md, ReadWriteLock/read release
-- KEYS  1 lock hash
--       2 prefix of the timeout keys, as a key that never exists: it makes a cluster answer TRYAGAIN while the slot's
--         keys are on their way
--       The script also uses the timeout keys of read holds, in its slot.
-- ARGV  1 channel
--       2 owner
--       3 hold count after this release
--       4 highest hold count that the session ever asked for: timeout keys up to that are deleted
-- Answers:
--   nil  the owner does not hold the read lock; nothing changed
--   0    the owner still holds it, or others do
--   1    freed; also if only holds remain whose timeout keys have all expired
-- Publishes `0` when it freed the lock, when there is no lock, and when the lock's PTTL falls by more than a second.
-- Repeatable: it sets the hold count; a second last release finds no field and changes nothing.
-- In mode read the lock's PTTL becomes the longest of the remaining holds', which may be lower than before; waiters
-- sleep for the PTTL that they were told, so they are woken. Under a writer it is never lowered, because the write
-- hold has the same key.
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
