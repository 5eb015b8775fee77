-- token/acquire: take a token lock, or extend it for one more hold of its owner.
-- docs/internals/wire.md, TokenLock/acquire
-- KEYS  1 the lock, a string: the token of its owner
-- ARGV  1 owner's token
--       2 lease, ms
--       3 hold count after this acquire, which the server does not keep
--       4 token of a session that is over and whose hold this acquire replaces, or ''
--       5 channel; present only together with 4, and only for a lock that publishes
-- Answers:
--   nil      the owner holds the lock
--   n >= -1  another token stands there; its PTTL in ms (-1: no expiry)
--   -3       the hold count is above 1, but the outer holds are gone; nothing changed
-- Publishes `0` to the channel, if there is one, when it replaced a token: waiters sleep for the PTTL that they were told,
-- which may have been longer.
-- Repeatable: a second run finds the owner's token and never lowers the PTTL.
local lock, owner, lease_ms, count, over, channel = KEYS[1], ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
if count == '1' and redis.call('set', lock, owner, 'px', lease_ms, 'nx') then
    return nil
end
local token = redis.call('get', lock)
if token == owner then
    if redis.call('pttl', lock) < tonumber(lease_ms) then
        redis.call('pexpire', lock, lease_ms)
    end
    return nil
end
if count ~= '1' then
    return -3
end
if over ~= '' and token == over then
    redis.call('set', lock, owner, 'px', lease_ms)
    if channel then
        redis.call('publish', channel, '0')
    end
    return nil
end
return redis.call('pttl', lock)
