-- count_down_latch/delete: open the latch, whatever its count is.
-- docs/internals/wire.md, CountDownLatch/delete
-- KEYS  1 counter
-- ARGV  1 channel
-- Answers:
--   1  deleted
--   0  there was no counter
-- Publishes `1` when it deleted the counter.
-- Not repeatable: a second run could open a latch that was closed again in between.
local counter, channel = KEYS[1], ARGV[1]
--@include count_down_latch/count.inc
if not count then
    return 0
end
redis.call('del', counter)
redis.call('publish', channel, '1')
return 1
