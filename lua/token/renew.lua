-- token/renew: extend the leases of token locks whose owners are alive, one batch per run.
-- docs/internals/wire.md, TokenLock/renew
-- KEYS  1... the locks
-- ARGV  1 lease, ms
--       2... token of each lock's owner, in the order of the keys
-- Answers a list in the order of the keys:
--   1  renewed
--   0  the owner does not hold this lock; nothing changed
-- Publishes nothing.
-- Repeatable: it only raises PTTLs. A key of another type counts as not held, so that it does not fail the batch.
--@include lock/ask.inc
local lease_ms = ARGV[1]
local answers = {}
for i, lock in ipairs(KEYS) do
    answers[i] = 0
    if ask('get', lock) == ARGV[i + 1] then
        if redis.call('pttl', lock) < tonumber(lease_ms) then
            redis.call('pexpire', lock, lease_ms)
            -- The server forgets that this connection tracks the key when it reports a write; this read tells it again.
            redis.call('exists', lock)
        end
        answers[i] = 1
    end
end
return answers
