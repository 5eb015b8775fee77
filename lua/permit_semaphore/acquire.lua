-- permit_semaphore/acquire: take permits under ids that the caller chose, all or none.
-- docs/internals/wire.md, Permit-expirable semaphore/Acquire
-- KEYS  1 counter
--       2 permits, a zset: id -> expiry, epoch ms
--       3 channel
-- ARGV  1 n, number of permits
--       2 lease, ms; -1: none
--       3 n ids of 16 bytes each, concatenated
-- Answers:
--   nil     taken
--   n >= 0  too few permits are available; the nearest expiry is in n ms
--   -1      too few permits are available, and none of the taken ones expires
--   -2      there is no semaphore: neither a counter nor a permit
-- Takes back expired permits first, at most n; publishes the number available if that is above 0.
-- Repeatable: ids that are present were taken by an earlier run of this request, and the run only sets their
-- expiry anew. An id of the request that has expired meanwhile is taken once more, not twice.
local counter, permits, channel = KEYS[1], KEYS[2], KEYS[3]
local n, lease_ms, ids = tonumber(ARGV[1]), tonumber(ARGV[2]), ARGV[3]
--@include permit_semaphore/expired.inc
--@include permit_semaphore/ids.inc
take_back(n)
local expiry = lease_ms < 0 and NO_EXPIRY or now + lease_ms
local first = redis.call('zscore', permits, nth(ids, 1))
if tonumber(first or 0) > now or tonumber(available or 0) >= n then
    -- Each command that may be refused comes before those that would stand then, or has them undone. DECRBY undoes what it
    -- did itself, so nobody lacks the right to that.
    local new, score = first and 0 or 1, string.format('%.0f', expiry)
    for i = 2, n, AT_ONCE do
        for _, there in ipairs(redis.call('zmscore', permits, some(ids, i, n))) do
            new = new + (there and 0 or 1)
        end
    end
    local ttl_ms = redis.call('pttl', counter)
    if ttl_ms > 0 then
        redis.call('pexpire', permits, ttl_ms) -- fails without the right to it, before there is a first permit
    end
    if new > 0 then
        redis.call('decrby', counter, new)
    end
    for i = 1, n, AT_ONCE do
        local pairs = {}
        for k = i, math.min(n, i + AT_ONCE - 1) do
            pairs[#pairs + 1] = score
            pairs[#pairs + 1] = nth(ids, k)
        end
        local added = redis.pcall('zadd', permits, unpack(pairs))
        if type(added) ~= 'number' then
            if new > 0 then
                redis.call('decrby', counter, -new)
            end
            return added
        end
    end
    if ttl_ms > 0 then
        redis.call('pexpire', permits, ttl_ms)
    end
    return nil
end
local nearest = redis.call('zrange', permits, 0, 0, 'withscores')[2]
if not nearest or tonumber(nearest) >= NO_EXPIRY then
    return (available or nearest) and -1 or -2
end
return math.max(0, tonumber(nearest) - now)
