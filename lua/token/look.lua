-- token/look: tell whether token locks are still held, and for how long, one batch per run.
-- docs/internals/wire.md, TokenLock/look
-- KEYS  1... the locks
-- ARGV  1... token of each lock's owner, in the order of the keys
-- Answers a list in the order of the keys:
--   ms the server keeps the lock, if the owner holds it; -1: it holds it without expiry
--  -2  the owner does not hold this lock
-- Publishes nothing.
-- Repeatable: it changes nothing. A key of another type counts as not held, so that it does not fail the batch.
local answers, absent = {}, nil
for i, lock in ipairs(KEYS) do
    local held = redis.pcall('get', lock) == ARGV[i]
    answers[i] = held and redis.call('pttl', lock) or -2
    absent = not held and lock or absent
end
--@include object/master.inc
return answers
