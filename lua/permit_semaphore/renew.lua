-- permit_semaphore/renew: extend the leases of permits that the watchdog renews.
-- docs/internals/wire.md, Permit-expirable semaphore/Renew
-- KEYS  1 permits, a zset: id -> expiry, epoch ms
-- ARGV  1 n, number of permits
--       2 their ids, 16 bytes each, concatenated
--       3 lease, ms
-- Answers a list with one number an id:
--   1  it lasts for the lease from now, or longer
--   0  there is no such permit, or it has expired
-- Publishes nothing: no permit expires earlier than before.
-- Repeatable: a permit that is gone stays so.
local permits, n, ids, lease_ms = KEYS[1], tonumber(ARGV[1]), ARGV[2], tonumber(ARGV[3])
--@include permit_semaphore/ids.inc
local time = redis.call('time')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local score = string.format('%.0f', now + lease_ms)
local answers = {}
-- Removes nothing, and may be refused: a server at its maxmemory refuses ZADD to a script that has written nothing yet
-- (lock/waiters.inc).
redis.pcall('zrem', permits, '')
for i = 1, n, AT_ONCE do
    local longer = {}
    for k, expiry in ipairs(redis.call('zmscore', permits, some(ids, i, n))) do
        local there = expiry and tonumber(expiry) > now
        answers[#answers + 1] = there and 1 or 0
        if there and tonumber(expiry) < now + lease_ms then
            longer[#longer + 1] = score
            longer[#longer + 1] = nth(ids, i + k - 1)
        end
    end
    if #longer > 0 then
        redis.call('zadd', permits, unpack(longer))
    end
end
return answers
