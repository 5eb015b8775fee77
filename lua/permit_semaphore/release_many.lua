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
--@include permit_semaphore/ids.inc
local seen = {}
local expiries
for i = 1, n do
    local id, at = nth(ids, i), (i - 1) % AT_ONCE + 1
    if at == 1 then
        expiries = redis.call('zmscore', permits, some(ids, i, n))
    end
    local expiry = not seen[id] and expiries[at]
    if not expiry then
        return -i
    elseif tonumber(expiry) <= now then
        return -(n + i)
    end
    seen[id] = true
end
take_back()
for i = 1, n, AT_ONCE do
    redis.call('zrem', permits, some(ids, i, n))
end
redis.call('incrby', counter, n)
redis.call('publish', channel, n)
return n
