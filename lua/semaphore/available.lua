-- semaphore/available: read how many permits are available.
-- docs/internals/wire.md, Semaphore/available
-- KEYS  1 counter
-- ARGV  none
-- Answers the number as text; 0 when there is no counter.
-- Publishes nothing.
-- Repeatable: it changes nothing.
local counter = KEYS[1]
--@include semaphore/permits.inc
return permits or 0
