-- count_down_latch/set: close the latch by setting its count, unless it has a count already.
-- docs/internals/wire.md, CountDownLatch/try set count
-- KEYS  1 counter
-- ARGV  1 count
--       2 channel (an argument and not a key, because its braces are added to the whole name: its hash slot may
--         differ from the counter's)
-- Answers:
--   1  set
--   0  the latch has a count already; nothing changed
-- Publishes `1` when it set the count.
-- Not repeatable: a second run would answer 0, or close a latch that was opened in between.
local counter, new, channel = KEYS[1], ARGV[1], ARGV[2]
--@include count_down_latch/count.inc
if count then
    return 0
end
redis.call('set', counter, new)
redis.call('publish', channel, '1')
return 1
