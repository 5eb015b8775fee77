-- read/look: tell whether read holds are still held, and for how long, one batch per run.
-- docs/internals/wire.md, ReadWriteLock/read look
-- KEYS  1... lock hashes
--       The script also uses the owners' timeout keys, in the slots of the locks.
-- ARGV  1... owner of each lock, in the order of the keys
-- Answers a list in the order of the keys:
--   ms the server keeps the lock, if the owner holds it; -1: it holds it without expiry
--  -2  the owner does not hold this lock
--  -3  none of the owner's timeout keys is here. While a cluster moves the slot they may be at another server, so this
--      is not the end of the hold.
-- Publishes nothing.
-- Repeatable: it changes nothing. A key of another type counts as not held, so that it does not fail the batch.
--@include lock/ask.inc
--@include read/levels.inc
local answers = {}
for i, lock in ipairs(KEYS) do
    local value = ask('hget', lock, ARGV[i])
    local levels = type(value) == 'string' and levels_in(value) or 0
    answers[i] = -2
    if levels > 0 then
        local base = (string.find(lock, '{', 1, true) and lock or '{' .. lock .. '}') .. ':' .. ARGV[i]
        local longest, left = -1, redis.call('pttl', lock)
        for n = 1, levels do
            longest = math.max(longest, redis.call('pttl', base .. ':rwlock_timeout:' .. n))
        end
        -- The lock's key may end before the hold: another reader's renewal may have lowered its PTTL.
        answers[i] = longest < 0 and -3 or left < 0 and longest or math.min(left, longest)
    end
end
return answers
