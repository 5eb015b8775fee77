-- read/renew: keep the read holds of living owners going.         WIRE.md ReadWriteLock/read renew
-- KEYS  1… lock hashes   last: what timeout keys of the first begin with (no key)   derived, in their slots: the owners'
--       timeout keys
-- ARGV  1 lease ms; 0: lengthen no hold, only let the lock stand as long as the owner's holds do,
--         since another reader's renewal may have cut it shorter   2… the owner of each
-- a list in the order of the locks: 1  renewed | 2  renewed, beneath the owner's write hold | 0  not the owner's any more, nothing changed
-- May be repeated: it only raises PTTLs. A key of another type is not the owner's: its error stays
-- with it and does not spoil the others.
local lease_ms = tonumber(ARGV[1])
--@include read/levels.inc
local answers = {}
for i = 1, #KEYS - 1 do
    local lock, owner = KEYS[i], ARGV[i + 1]
    local value = redis.pcall('hget', lock, owner)
    local levels = type(value) == 'string' and levels_in(value) or 0
    answers[i] = 0
    if levels > 0 then
        local base = (string.find(lock, '{', 1, true) and lock or '{' .. lock .. '}') .. ':' .. owner
        local longest = lease_ms
        for n = 1, levels do
            local timeout = base .. ':rwlock_timeout:' .. n
            local left = redis.call('pttl', timeout)
            if left >= 0 and left < lease_ms then
                redis.call('pexpire', timeout, lease_ms)
            end
            longest = math.max(longest, left)
        end
        if redis.call('pttl', lock) < longest then
            redis.call('pexpire', lock, longest)
        end
        answers[i] = redis.call('hget', lock, 'mode') == 'write' and 2 or 1
    end
end
return answers
