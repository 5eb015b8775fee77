-- permit_semaphore/state: read how many permits are available and how many are taken.
-- docs/internals/wire.md, Permit-expirable semaphore/State
-- KEYS  1 counter   2 permits, a zset: id -> expiry, epoch ms   3 channel
-- ARGV  none
-- Answers { available, taken }:
--   available  as text; nil when there is no counter
--   taken      number of permits that are taken
-- Takes back expired permits first; publishes the number available if that is above 0.
-- Repeatable: a second run finds no permit to take back.
local counter, permits, channel = KEYS[1], KEYS[2], KEYS[3]
--@include permit_semaphore/expired.inc
take_back()
return { redis.call('get', counter), redis.call('zcard', permits) }
