-- fenced/set: set a string that only holders of a fenced lock write, unless a newer holder has written it.
-- docs/internals/wire.md, Guarded write
-- KEYS  1 the string
--       2 its fence, a hash: who wrote last
-- ARGV  1 value
--       2 fencing token of the writer, a decimal from 1 to 2^64 - 1 without leading zeros
--       3 id of the writer's client
--       4 number of this write among those of the client
-- Answers:
--   1  written; or a later write of the same hold had come before this one
--   0  a newer token has written; nothing changed
-- Publishes nothing.
-- Repeatable: a write that arrives late does not undo a later one of the same client.
-- Tokens are compared as text, because Lua's numbers are not exact above 2^53.
local value, fence, token, client, number = KEYS[1], KEYS[2], ARGV[2], ARGV[3], ARGV[4]

local function is_less(a, b)
    return #a < #b or (#a == #b and a < b)
end

redis.call('strlen', value) -- an error for a key of another type, which is not ours to replace
local last = redis.call('hmget', fence, 'token', 'client', 'number')
if last[1] and is_less(token, last[1]) then
    return 0
end
if last[1] == token and last[2] == client and is_less(number, last[3]) then
    return 1
end
redis.call('hset', fence, 'token', token, 'client', client, 'number', number)
redis.call('set', value, ARGV[1])
return 1
