-- count_down_latch/count_down: decrement the count; open the latch when it reaches 0.
-- docs/internals/wire.md, CountDownLatch/count down
-- KEYS  1 counter
-- ARGV  1 channel
-- Answers:
--   1  this call opened the latch
--   0  the latch is still closed, or was open before (no counter)
-- Publishes `0` when the count reaches exactly 0.
-- Not repeatable: a second run would count down once more.
local counter, channel = KEYS[1], ARGV[1]
--@include count_down_latch/count.inc
if not count then
    return 0
end
-- One write, so that none stands when another is refused.
if tonumber(count) > 1 then
    --@include semaphore/write_first.inc
    redis.call('decr', counter)
    return 0
end
redis.call('del', counter)
if tonumber(count) < 1 then
    return 0
end
redis.call('publish', channel, '0')
return 1
