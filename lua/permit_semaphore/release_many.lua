-- permit_semaphore/release_many: release several permits, all or none.
-- docs/internals/wire.md, Permit-expirable semaphore/Release of many
-- KEYS  1 counter   2 permits, a zset: id -> expiry, epoch ms   3 channel
-- ARGV  1 n, number of permits
--       2 their ids, 16 bytes each, concatenated
-- Answers:
--   n       released
--   -i      the i-th id is not there, or occurs twice; nothing changed
--   -(n+i)  the i-th permit has expired; nothing changed
--   -(2n+1) none of the ids is there; nothing changed
-- Publishes n when it released. Takes back expired permits of others after the release, and then publishes the number
-- available if that is above 0.
-- Repeatable: a second run answers -(2n+1) and changes nothing. If only the first permit is not there, which may have
-- ended meanwhile, the first run has not released the others either.
local counter, permits, channel, n, ids = KEYS[1], KEYS[2], KEYS[3], tonumber(ARGV[1]), ARGV[2]
--@include permit_semaphore/expired.inc
--@include permit_semaphore/ids.inc
local function is_any_there()
    for i = 1, n, AT_ONCE do
        local found = redis.call('zmscore', permits, some(ids, i, n))
        for k = 1, AT_ONCE do
            if found[k] then
                return true
            end
        end
    end
    return false
end
local seen = {}
local expiries
for i = 1, n do
    local id, at = nth(ids, i), (i - 1) % AT_ONCE + 1
    if at == 1 then
        expiries = redis.call('zmscore', permits, some(ids, i, n))
    end
    local expiry = not seen[id] and expiries[at]
    if not expiry and i == 1 and not is_any_there() then
        return -(2 * n + 1)
    elseif not expiry then
        return -i
    elseif tonumber(expiry) <= now then
        return -(n + i)
    end
    seen[id] = true
end
redis.call('zrem', permits, '') -- first, as in permit_semaphore/release
redis.call('incrby', counter, n)
for i = 1, n, AT_ONCE do
    redis.call('zrem', permits, some(ids, i, n))
end
redis.call('publish', channel, n)
pcall(take_back) -- what is refused there fails no release that was done
return n
