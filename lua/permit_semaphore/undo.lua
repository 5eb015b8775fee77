-- permit_semaphore/undo: give back permits that nobody knows of.
-- KEYS  1 counter   2 permits, a zset: id → expiry, epoch ms   3 channel
-- ARGV  1 how many   2 their ids, 16 bytes each, in one text
-- how many of them there were; when there were any, the number available is published if above 0
-- May be repeated: it finds nothing then.
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
