-- lock/renew: extend the leases of locks whose owners are alive, one batch per run.
-- docs/internals/wire.md, RLock/renew
-- KEYS  1... lock hashes
-- ARGV  1 lease, ms
--       2... owner of each lock, in the order of the keys
-- Answers a list in the order of the keys:
--   1  renewed
--   0  the owner does not hold this lock; nothing changed
-- Publishes nothing.
-- Repeatable: it only raises PTTLs. A key of another type counts as not held, so that it does not fail the batch.
--@include lock/ask.inc
local lease_ms = ARGV[1]
-- PEXPIRE knows GT from Redis 7.0 on, the version that also introduced redis.REDIS_VERSION_NUM.
local raises = redis.REDIS_VERSION_NUM ~= nil
local answers = {}
for i, lock in ipairs(KEYS) do
    answers[i] = 0
    if ask('hexists', lock, ARGV[i + 1]) == 1 then
        -- PEXPIRE GT does not raise a PTTL that is longer already, nor one of a key without expiry.
        if not (raises and redis.call('pexpire', lock, lease_ms, 'GT') == 1) and
            redis.call('pttl', lock) < tonumber(lease_ms) then
            redis.call('pexpire', lock, lease_ms)
        end
        -- The server forgets that this connection tracks the key when it reports a write; this read tells it again.
        redis.call('exists', lock)
        answers[i] = 1
    end
end
return answers
