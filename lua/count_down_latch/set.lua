-- count_down_latch/set: close the latch, unless it is closed.     WIRE.md CountDownLatch/try set count
-- KEYS  1 counter
-- ARGV  1 the count   2 channel (its braces are not the name's, so it is no key of the same slot)
-- 1  set, `1` published | 0  there is a count: nothing changed
-- Must not be repeated: the second run would say 0, or close a latch that was opened since.
local counter, new, channel = KEYS[1], ARGV[1], ARGV[2]
--@include count_down_latch/count.inc
if count then
    return 0
end
redis.call('set', counter, new)
redis.call('publish', channel, '1')
return 1
