-- count_down_latch/state: read the count and the counter's time to live.
-- KEYS  1 counter
-- ARGV  none
-- Answers { count, PTTL }:
--   count  as text; 0 when there is no counter
--   PTTL   of the counter, ms; -1: no expiry, -2: no counter
-- Publishes nothing.
-- Repeatable: it changes nothing.
local counter = KEYS[1]
--@include count_down_latch/count.inc
return { count or 0, redis.call('pttl', counter) }
