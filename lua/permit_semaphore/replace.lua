-- permit_semaphore/replace: give new ids to permits that were just taken, so that a late copy of the request that
-- took them, which carries the old ids, can be recognized.
-- docs/internals/wire.md, Permit-expirable semaphore/Replace ids
-- KEYS  1 permits, a zset: id -> expiry, epoch ms
-- ARGV  1 n, number of permits
--       2 their ids, 16 bytes each, concatenated
--       3 n new ids, concatenated
-- Answers the number of permits that have their new ids now; the other permits have expired.
-- Publishes nothing.
-- Repeatable: a permit that has its new id already is left as it is.
local permits, n, old, new = KEYS[1], tonumber(ARGV[1]), ARGV[2], ARGV[3]
--@include permit_semaphore/ids.inc
local replaced = 0
for i = 1, n, AT_ONCE do
    local expiries = redis.call('zmscore', permits, some(old, i, n))
    local added, removed = {}, {}
    for k, expiry in ipairs(expiries) do
        if expiry then
            added[#added + 1] = expiry
            added[#added + 1] = nth(new, i + k - 1)
            removed[#removed + 1] = nth(old, i + k - 1)
        end
    end
    if #removed > 0 then
        redis.call('zrem', permits, '') -- removes nothing; without the right to it the permits would be there twice
        redis.call('zadd', permits, unpack(added)) -- before the old ids go, so that the key and its TTL stay
        redis.call('zrem', permits, unpack(removed))
    end
    for _, expiry in ipairs(redis.call('zmscore', permits, some(new, i, n))) do
        replaced = replaced + (expiry and 1 or 0)
    end
end
return replaced
