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
local removed = 0
for i = 1, n, AT_ONCE do
    removed = removed + redis.call('zrem', permits, some(ids, i, n))
end
if removed > 0 then
    put_back(removed)
end
return removed
