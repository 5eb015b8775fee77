-- permit_semaphore/undo: release permits that an unanswered acquire may have taken and that no caller knows of.
-- docs/internals/wire.md, Permit-expirable semaphore/Undo
-- KEYS  1 counter   2 permits, a zset: id -> expiry, epoch ms   3 channel
-- ARGV  1 n, number of permits
--       2 their ids, 16 bytes each, concatenated
-- Answers how many of them were there.
-- Publishes the number available when it released any and that number is above 0.
-- Repeatable: a second run finds none of them.
local counter, permits, channel = KEYS[1], KEYS[2], KEYS[3]
local n, ids = tonumber(ARGV[1]), ARGV[2]
--@include permit_semaphore/expired.inc
--@include permit_semaphore/ids.inc
local there = 0
for i = 1, n, AT_ONCE do
    for _, expiry in ipairs(redis.call('zmscore', permits, some(ids, i, n))) do
        there = there + (expiry and 1 or 0)
    end
end
if there > 0 then
    redis.call('zrem', permits, '') -- first, as in permit_semaphore/release
    available = redis.call('incrby', counter, there)
    for i = 1, n, AT_ONCE do
        redis.call('zrem', permits, some(ids, i, n))
    end
    tell()
end
return there
