-- permit_semaphore/update_lease: set a permit's lease anew, counted from now.
-- docs/internals/wire.md, Permit-expirable semaphore/Update lease
-- KEYS  1 counter   2 permits, a zset: id -> expiry, epoch ms   3 channel
-- ARGV  1 id, 16 bytes
--       2 lease, ms; -1: none
-- Answers:
--   1  updated
--   0  there is no such permit, or it has expired
-- Takes back expired permits first; publishes the number available if that is above 0. Publishes `1` when the
-- permit now expires earlier than before: waiters sleep until the nearest expiry that they were told.
-- Repeatable: it sets the lease to the value that was asked for.
local counter, permits, channel, id, lease_ms = KEYS[1], KEYS[2], KEYS[3], ARGV[1], tonumber(ARGV[2])
--@include permit_semaphore/expired.inc
take_back()
local before = redis.call('zscore', permits, id)
if not before then
    return 0
end
local expiry = lease_ms < 0 and NO_EXPIRY or now + lease_ms
redis.call('zadd', permits, string.format('%.0f', expiry), id)
if expiry < tonumber(before) then
    redis.call('publish', channel, '1')
end
return 1
