-- read/renew: extend the leases of read holds whose owners are alive, one batch per run.
-- docs/internals/wire.md, ReadWriteLock/read renew
-- KEYS  1... lock hashes
--       The script also uses the owners' timeout keys, in the slots of the locks.
-- ARGV  1 lease, ms; 0: extend no hold, only raise the lock's PTTL to that of the owner's longest hold, because
--         the renewal of another reader may have lowered it
--       2... owner of each lock, in the order of the keys
-- Answers a list in the order of the keys:
--   1  renewed
--   2  renewed, under the owner's write hold
--   0  the owner does not hold this lock; nothing changed
--  -1  none of the owner's timeout keys is here: nothing changed. While a cluster moves the slot they may be at
--      another server, so this is not the end of the hold; it ends if no later run finds them.
-- Publishes nothing.
-- Repeatable: it only raises PTTLs. A key of another type counts as not held, so that it does not fail the batch.
--@include lock/ask.inc
local lease_ms = tonumber(ARGV[1])
--@include read/levels.inc
local answers = {}
for i = 1, #KEYS do
    local lock, owner = KEYS[i], ARGV[i + 1]
    local value = ask('hget', lock, owner)
    local levels = type(value) == 'string' and levels_in(value) or 0
    answers[i] = 0
    if levels > 0 then
        local base = (string.find(lock, '{', 1, true) and lock or '{' .. lock .. '}') .. ':' .. owner
        local longest = -1
        for n = 1, levels do
            local timeout = base .. ':rwlock_timeout:' .. n
            local left = redis.call('pttl', timeout)
            if left >= 0 and left < lease_ms then
                redis.call('pexpire', timeout, lease_ms)
            end
            longest = math.max(longest, left)
        end
        if longest < 0 then
            answers[i] = -1
        else
            longest = math.max(longest, lease_ms)
            if redis.call('pttl', lock) < longest then
                redis.call('pexpire', lock, longest)
            end
            answers[i] = redis.call('hget', lock, 'mode') == 'write' and 2 or 1
        end
    end
end
return answers
