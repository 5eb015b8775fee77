-- write/look: tell whether write holds are still held, and for how long, one batch per run.
-- docs/internals/wire.md, ReadWriteLock/write look
-- KEYS  1... lock hashes
-- ARGV  1... owner of each lock, in the order of the keys
-- Answers a list in the order of the keys:
--   ms the server keeps the lock, if the owner holds it; -1: it holds it without expiry
--  -2  the owner does not hold this lock
-- Publishes nothing.
-- Repeatable: it changes nothing. A key of another type counts as not held, so that it does not fail the batch.
--@include lock/ask.inc
local answers = {}
for i, lock in ipairs(KEYS) do
    answers[i] = ask('hexists', lock, ARGV[i] .. ':write') == 1 and redis.call('pttl', lock) or -2
end
return answers
