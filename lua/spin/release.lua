-- spin/release: release one hold of a spin lock, or free it with the last one.
-- docs/internals/wire.md, SpinLock/release
-- KEYS  1 lock hash
-- ARGV  1 owner
--       2 hold count after this release; 0: free the lock
--       3 lease, ms
-- Answers:
--   nil  the owner does not hold the lock; nothing changed
--   0    the owner still holds the lock
--   1    freed
-- Publishes nothing.
-- Repeatable: it sets the hold count; a second last release finds no field and changes nothing.
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
