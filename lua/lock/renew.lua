-- lock/renew: keep the locks of living owners going.              WIRE.md RLock/renew
-- KEYS  1… lock hashes
-- ARGV  1 lease ms   2… the owner of each, in the order of the keys
-- a list in the order of the keys: 1  renewed | 0  not the owner's any more, nothing changed
-- May be repeated: it only raises PTTLs. A key of another type is not the owner's: its error
-- stays with it and does not spoil the others.
local lease_ms = ARGV[1]
-- From Redis 7.0 on, which also is the first to tell scripts its version, one command raises a PTTL.
local raises = redis.REDIS_VERSION_NUM ~= nil
local answers = {}
for i, lock in ipairs(KEYS) do
    answers[i] = 0
    if redis.pcall('hexists', lock, ARGV[i + 1]) == 1 then
        -- what it did not raise has more time, or no end at all
        if not (raises and redis.call('pexpire', lock, lease_ms, 'GT') == 1) and
            redis.call('pttl', lock) < tonumber(lease_ms) then
            redis.call('pexpire', lock, lease_ms)
        end
        answers[i] = 1
    end
end
return answers
