-- permit_semaphore/lease: who asks: how much of a permit's lease is left?
-- KEYS  1 counter   2 permits, a zset: id → expiry, epoch ms   3 channel
-- ARGV  1 id, 16 bytes
-- n > 0  ms | -1  it does not expire | 0  there is no such permit, or it has expired
-- Expired permits are given back first: the number available is published.
-- May be repeated: the second run finds none that the first one did.
local counter, permits, channel, id = KEYS[1], KEYS[2], KEYS[3], ARGV[1]
--@include permit_semaphore/expired.inc
take_back()
local expiry = tonumber(redis.call('zscore', permits, id) or 0)
if expiry >= NO_EXPIRY then
    return -1
end
return math.max(0, expiry - now)
