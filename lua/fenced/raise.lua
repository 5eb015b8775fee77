-- fenced/raise: raise the token counter of a fenced lock that the owner holds to the token of a red lock.
-- docs/internals/wire.md, Fenced lock
-- KEYS  1 lock hash
--       2 token counter
-- ARGV  1 owner
--       2 token, a decimal from 1 to 2^64 - 1 without leading zeros
-- Answers:
--   1  the owner holds the lock, and the counter is at the token or beyond
--   0  the owner does not hold it; nothing changed
-- Publishes nothing.
-- Repeatable: it never lowers the counter.
-- Tokens are compared as text, because Lua's numbers are not exact above 2^53.
local lock, counter, owner, token = KEYS[1], KEYS[2], ARGV[1], ARGV[2]

local function is_less(a, b)
    return #a < #b or (#a == #b and a < b)
end

if redis.call('hexists', lock, owner) == 0 then
    return 0
end
local last = redis.call('get', counter)
if not last or string.sub(last, 1, 1) == '-' or is_less(last, token) then
    redis.call('set', counter, token)
end
return 1
