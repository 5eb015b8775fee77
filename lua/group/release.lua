-- group/release: release one hold of the values.
-- docs/internals/wire.md, Group lock/release
-- KEYS  1 group, a hash
-- ARGV  1 channel
--       2 owner
--       3 hold count that is left
--       4 lease, ms
--       5 fields of the values
-- Answers:
--   nil  the owner does not hold all of the values; it holds none of them now
--   0    released; outer holds remain
--   1    released, and the values are free
-- Publishes `0` when values became free.
-- Repeatable: it sets the count. A second run of the last release finds nothing and answers nil.
local group, channel, owner, count, lease_ms = KEYS[1], ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4])
local fields = ARGV[5]
--@include group/values.inc
local left_ms, freed, mine = redis.call('pttl', group), {}, 0
each_part(function(part, holders)
    for i, field in ipairs(part) do
        if holders[i] == owner then
            mine = mine + 1
            freed[mine] = field
        end
    end
end)
if mine == 0 then
    return nil
end
if mine == total and count ~= '0' then
    hold(owner, count, now + lease_ms, false)
    raise(left_ms, lease_ms)
    return 0
end
if mine == total and redis.call('hlen', group) == 3 * total then
    redis.call('del', group) -- three fields a value: nothing else is in it
else
    for i = 1, mine do
        forget(freed, freed[i], owner)
    end
    delete(freed)
end
redis.call('publish', channel, '0')
if mine < total then
    return nil
end
return 1
