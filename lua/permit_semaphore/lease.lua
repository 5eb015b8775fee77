-- permit_semaphore/lease: read how much is left of a permit's lease.
-- docs/internals/wire.md, Permit-expirable semaphore/Lease time
-- KEYS  1 counter   2 permits, a zset: id -> expiry, epoch ms   3 channel
-- ARGV  1 id, 16 bytes
-- Answers:
--   n > 0  ms that are left
--   -1     the permit does not expire
--   0      there is no such permit, or it has expired
-- Takes back expired permits first; publishes the number available if that is above 0.
-- Repeatable: a second run finds no permit to take back.
local counter, permits, channel, id = KEYS[1], KEYS[2], KEYS[3], ARGV[1]
--@include permit_semaphore/expired.inc
take_back()
local expiry = tonumber(redis.call('zscore', permits, id) or 0)
if expiry >= NO_EXPIRY then
    return -1
end
return math.max(0, expiry - now)
