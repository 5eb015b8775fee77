-- permit_semaphore/release_many: give back permits, all or none.
--                                                  WIRE.md Permit-expirable semaphore/Release of many
-- KEYS  1 counter   2 permits, a zset: id → expiry, epoch ms   3 channel
-- ARGV  1 n, how many   2 their ids, 16 bytes each, in one text
-- n  released, and n published | -i  the i-th is not there, or comes twice | -(n+i)  the i-th has expired;
-- nothing changed. Before the release, expired permits of others are given back: the number then available
-- is published.
-- May be repeated: the second run says -1, and nothing changes.
local counter, permits, channel, n, ids = KEYS[1], KEYS[2], KEYS[3], tonumber(ARGV[1]), ARGV[2]
--@include permit_semaphore/expired.inc
local seen = {}
for i = 1, n do
    local id = nth(ids, i)
    local expiry = not seen[id] and redis.call('zscore', permits, id)
    if not expiry then
        return -i
    elseif tonumber(expiry) <= now then
        return -(n + i)
    end
    seen[id] = true
end
take_back()
for i = 1, n do
    redis.call('zrem', permits, nth(ids, i))
end
redis.call('incrby', counter, n)
redis.call('publish', channel, n)
return n
