-- count_down_latch/delete: open the latch, whatever its count.    WIRE.md CountDownLatch/delete
-- KEYS  1 counter
-- ARGV  1 channel
-- 1  deleted, `1` published | 0  there was none
-- Must not be repeated: the second run could open a latch that was closed since.
local counter, channel = KEYS[1], ARGV[1]
--@include count_down_latch/count.inc
if not count then
    return 0
end
redis.call('del', counter)
redis.call('publish', channel, '1')
return 1
