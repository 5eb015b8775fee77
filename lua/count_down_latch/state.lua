-- count_down_latch/state: who asks: what is the count, and for how long can it stand?
-- KEYS  1 counter
-- { count as text (0: no counter), PTTL of the counter (-1: no end, -2: none) }
-- Changes nothing.
local counter = KEYS[1]
--@include count_down_latch/count.inc
return { count or 0, redis.call('pttl', counter) }
