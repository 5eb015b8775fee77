-- write/release: release one write hold, or the owner's last one.
-- docs/internals/wire.md, ReadWriteLock/write release
-- KEYS  1 lock hash
--       2 prefix of the timeout keys, as a key that never exists: it makes a cluster answer TRYAGAIN while the slot's
--         keys are on their way
--       The script also reads the timeout keys of read holds, in its slot.
-- ARGV  1 channel
--       2 owner
--       3 hold count after this release
--       4 lease, ms
-- Answers:
--   nil  the owner does not hold the write lock; nothing changed
--   0    the owner still holds the write lock
--   1    freed, or left to the owner's own read holds
-- Publishes `1` when it answers 1, also if read holds are left, so that waiting readers can join them; and when there
-- is no lock.
-- Repeatable: it sets the hold count; a second last release finds no field and changes nothing.
-- When read holds are left, the lock's PTTL becomes the longest of theirs. (Redisson leaves the writer's PTTL, so that
-- a short read hold under a long write lease shuts writers out until that lease ends.) Read holds whose timeout keys
-- have all expired do not count.
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
