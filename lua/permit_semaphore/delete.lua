-- permit_semaphore/delete: delete the counter and all permits, taken or not.
-- docs/internals/wire.md, Permit-expirable semaphore/Delete
-- KEYS  1 counter   2 permits, a zset: id -> expiry, epoch ms   3 channel
-- ARGV  none
-- Answers:
--   1  deleted
--   0  there was nothing to delete
-- Publishes nothing.
-- Not repeatable: a second run could delete a semaphore that was set in between.
local counter, permits, channel = KEYS[1], KEYS[2], KEYS[3]
--@include permit_semaphore/expired.inc
return redis.call('del', counter, permits) > 0 and 1 or 0
