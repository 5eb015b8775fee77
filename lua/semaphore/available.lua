-- semaphore/available: who asks: how many permits are there?
-- KEYS  1 counter
-- the number, as text; 0 without a counter
-- Changes nothing.
local counter = KEYS[1]
--@include semaphore/permits.inc
return permits or 0
