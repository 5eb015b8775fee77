-- semaphore/delete: delete the counter.
-- docs/internals/wire.md, Semaphore/delete
-- KEYS  1 counter
-- ARGV  none
-- Answers:
--   1  deleted
--   0  there was no counter
-- Publishes nothing.
-- Not repeatable: a second run could delete a counter that was set in between.
local counter = KEYS[1]
--@include semaphore/permits.inc
return redis.call('del', counter)
