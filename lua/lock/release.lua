-- lock/release: release one hold of a lock; with the last one free it, or offer it to a waiter.
-- docs/internals/wire.md, RLock/release
-- KEYS  1 lock hash
-- ARGV  1 channel (an argument and not a key: a missing key would stop the script while its slot is moved)
--       2 owner
--       3 hold count after this release; 0: free the lock
--       4 lease, ms
--       5 lease with which the owner may stand in the registry of waiters (registry.inc), which it then leaves; present
--         only in a release by an owner that waits no more
-- Answers:
--   nil  the owner does not hold the lock; nothing changed but the registry
--   0    the owner still holds the lock
--   1    freed, or offered to a registered waiter
-- Publishes `0` on the channel when it freed the lock; and on the channel of the client of the registered waiter that is
-- to have it next `NUMBER MS` when it offered it the lock (waiters.inc), else `0`.
-- Repeatable: it sets the hold count; a second last release finds no field and changes nothing.
local lock, channel, owner, count, lease_ms = KEYS[1], ARGV[1], ARGV[2], ARGV[3], ARGV[4]
--@include lock/registry.inc
local stood = ARGV[5] and redis.pcall('zrem', waiters, owner .. ' ' .. ARGV[5])
if redis.call('hexists', lock, owner) == 0 then
    if stood == 0 then -- it was told that its turn has come, and leaves without it
        --@include lock/first.inc
        --@include lock/waiters.inc
    end
    return nil
end
if count ~= '0' then
    redis.call('hset', lock, owner, count)
    if redis.call('pttl', lock) < tonumber(lease_ms) then
        redis.call('pexpire', lock, lease_ms)
    end
    return 0
end
--@include lock/first.inc
local others
if counted and registrant then
    --@include lock/others.inc
end
if others == 0 then -- and a waiter is registered
    from = owner
    --@include lock/waiters.inc
    from = nil
end
if not told then
    redis.call('del', lock)
    redis.call('publish', channel, '0')
    -- Those that are left: an offer that nobody heard has taken others out.
    --@include lock/waiters.inc
end
return 1
