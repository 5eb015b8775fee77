-- group/force: free the values, whoever holds them.
-- docs/internals/wire.md, Group lock/force
-- KEYS  1 group, a hash
-- ARGV  1 channel
--       2 fields of the values
-- Answers:
--   1  at least one of the values was held
--   0  none was; nothing changed
-- Publishes `0` when values became free.
-- Not repeatable: a second run could free values that were taken in between.
local group, channel, fields = KEYS[1], ARGV[1], ARGV[2]
--@include group/values.inc
local freed = {}
each_part(function(part, holders)
    for i, field in ipairs(part) do
        if holders[i] then
            freed[#freed + 1] = field
            forget(freed, field, holders[i])
        end
    end
end)
if #freed == 0 then
    return 0
end
delete(freed)
redis.call('publish', channel, '0')
return 1
