-- token/release: release one hold of a token lock, or free it with the last one.
-- docs/internals/wire.md, TokenLock/release
-- KEYS  1 the lock, a string: the token of its owner
-- ARGV  1 channel (an argument and not a key: a missing key would stop the script while its slot is moved)
--       2 owner's token
--       3 hold count after this release; 0: free the lock
--       4 lease, ms
-- Answers:
--   nil  the owner does not hold the lock; nothing changed
--   0    the owner still holds the lock
--   1    freed
-- Publishes `0` when it freed the lock.
-- Repeatable: a second last release finds another token or none and changes nothing.
local lock, channel, owner, count, lease_ms = KEYS[1], ARGV[1], ARGV[2], ARGV[3], ARGV[4]
if redis.call('get', lock) ~= owner then
    return nil
end
if count ~= '0' then
    if redis.call('pttl', lock) < tonumber(lease_ms) then
        redis.call('pexpire', lock, lease_ms)
    end
    return 0
end
redis.call('del', lock)
redis.call('publish', channel, '0')
return 1
