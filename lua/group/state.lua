-- group/state: read whether any of the values is held, and how often the owner holds all of them.
-- KEYS  1 group, a hash
-- ARGV  1 owner
--       2 fields of the values
-- Answers { left, count }:
--   left   ms until the last hold of one of the values ends; -2: none is held
--   count  the least hold count of the owner's; 0: it does not hold all of them
-- Publishes nothing.
-- Repeatable: it changes nothing.
local group, owner, fields = KEYS[1], ARGV[1], ARGV[2]
--@include group/values.inc
local latest, least = 0, nil
each_part(function(part, holders)
    local ends, counts = {}, {}
    for i, field in ipairs(part) do
        local holder = holders[i] or ''
        ends[i] = field .. ':' .. holder .. ':expire_time'
        counts[i] = field .. ':' .. owner .. ':lock_count'
    end
    ends, counts = redis.call('hmget', group, unpack(ends)), redis.call('hmget', group, unpack(counts))
    for i = 1, #part do
        local held = holders[i] and end_of(ends[i]) > now
        latest = held and math.max(latest, end_of(ends[i])) or latest
        least = math.min(least or 2147483647, held and holders[i] == owner and tonumber(counts[i] or 0) or 0)
    end
end)
return { latest > 0 and math.min(latest - now, 9e15) or -2, least or 0 }
