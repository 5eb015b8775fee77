-- group/acquire: hold all of these values of the group, or none.
-- docs/internals/wire.md, Group lock/acquire
-- KEYS  1 group, a hash
-- ARGV  1 owner
--       2 lease, ms
--       3 hold count that each value will have
--       4 owner whose holds this acquire replaces, or ''
--       5 channel
--       6 fields of the values
-- Answers:
--   nil             held
--   -3              the hold count is above 1, and the owner does not hold all of the values, whoever does
--   n >= 1          held by others: ask again after n ms
--   { n, 1 }        the same, and one of them is a session of this client
-- Publishes `0` when it replaced holds: waiters were told how long those last.
-- Deletes what a hold that has expired left of the values, so that its owner's late unlock finds nothing.
-- Repeatable: it sets the count, and the end only later.
local group, owner, lease_ms, count, over, channel = KEYS[1], ARGV[1], tonumber(ARGV[2]), ARGV[3], ARGV[4], ARGV[5]
local fields = ARGV[6]
--@include group/values.inc
local left_ms, mine, latest, rival = redis.call('pttl', group), 0, 0, false
local client, stale, replaced = string.match(owner, '^.*:'), {}, false
local function look(part, holders)
    local others, ends = {}, {}
    for i, field in ipairs(part) do
        local holder = holders[i]
        if holder == owner then
            mine = mine + 1
        elseif holder and holder == over then
            replaced = true
            forget(stale, field, holder)
        elseif holder then
            others[#others + 1] = i
            ends[#ends + 1] = field .. ':' .. holder .. ':expire_time'
        end
    end
    ends = #ends > 0 and redis.call('hmget', group, unpack(ends)) or {}
    for k, i in ipairs(others) do
        local end_ms = end_of(ends[k])
        if end_ms > now then
            latest = math.max(latest, end_ms)
            if string.sub(holders[i], 1, #client) == client then
                rival = true
            end
        else
            forget(stale, part[i], holders[i])
        end
    end
end

if left_ms ~= -2 then
    each_part(look)
end
if count ~= '1' and mine < total then
    return -3
end
if latest > 0 then
    local wait_ms = math.min(latest - now, 9e15)
    return rival and { wait_ms, 1 } or wait_ms
end
delete(stale)
hold(owner, count, now + lease_ms, mine == 0)
raise(left_ms, lease_ms)
if replaced then
    redis.call('publish', channel, '0')
end
return nil
