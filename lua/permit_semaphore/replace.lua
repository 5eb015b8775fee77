-- permit_semaphore/replace: give permits that were just taken new ids, so that a late repetition of the
-- request that took them, under the old ids, is known for what it is.
-- KEYS  1 permits, a zset: id → expiry, epoch ms
-- ARGV  1 how many   2 their ids, 16 bytes each, in one text   3 as many new ids
-- the number of permits that have new ids now; the others have expired
-- May be repeated: what has its new id is left alone.
local permits, n, old, new = KEYS[1], tonumber(ARGV[1]), ARGV[2], ARGV[3]
local replaced = 0
for i = 1, n do
    local from, to = string.sub(old, i * 16 - 15, i * 16), string.sub(new, i * 16 - 15, i * 16)
    local expiry = redis.call('zscore', permits, from)
    if expiry then
        redis.call('zadd', permits, expiry, to) -- first, so that the key and its TTL stay
        redis.call('zrem', permits, from)
    end
    if expiry or redis.call('zscore', permits, to) then
        replaced = replaced + 1
    end
end
return replaced
