-- count_down_latch/count_down: one less; at 0 the latch is open.  WIRE.md CountDownLatch/count down
-- KEYS  1 counter
-- ARGV  1 channel
-- 1  the latch is open now, `0` published | 0  it is not yet, or was open
-- Must not be repeated: the second run would count down once more.
local counter, channel = KEYS[1], ARGV[1]
--@include count_down_latch/count.inc
if not count then
    return 0
end
local left = redis.call('decr', counter)
if left <= 0 then
    redis.call('del', counter)
end
if left ~= 0 then
    return 0
end
redis.call('publish', channel, '0')
return 1
