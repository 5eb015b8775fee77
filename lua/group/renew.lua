-- group/renew: extend the owner's hold of the values.
-- docs/internals/wire.md, Group lock/renew
-- KEYS  1 group, a hash
-- ARGV  1 lease, ms
--       2 owner
--       3 fields of the values
-- Answers a list of one number:
--   1  the owner holds all of the values; they last for at least the lease
--   0  it does not; nothing changed
-- Publishes nothing.
-- Repeatable: it only raises ends.
local group, lease_ms, owner, fields = KEYS[1], tonumber(ARGV[1]), ARGV[2], ARGV[3]
--@include group/values.inc
local left_ms, parts, mine = redis.call('pttl', group), {}, 0
each_part(function(part, holders)
    local ends = {}
    for i, field in ipairs(part) do
        if holders[i] == owner then
            mine = mine + 1
        end
        ends[i] = field .. ':' .. owner .. ':expire_time'
    end
    parts[#parts + 1] = ends
end)
if mine < total then
    return { 0 }
end
-- Removes nothing, and may be refused: a server at its maxmemory refuses HSET to a script that has written nothing yet
-- (lock/waiters.inc).
redis.pcall('hdel', group, '')
for _, ends in ipairs(parts) do
    local old, words = redis.call('hmget', group, unpack(ends)), {}
    for i, name in ipairs(ends) do
        if end_of(old[i]) < now + lease_ms then
            words[#words + 1] = name
            words[#words + 1] = string.format('%.0f', now + lease_ms)
        end
    end
    if #words > 0 then
        redis.call('hset', group, unpack(words))
    end
end
raise(left_ms, lease_ms)
return { 1 }
