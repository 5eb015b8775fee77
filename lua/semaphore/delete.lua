-- semaphore/delete: no permits, and no counter.
-- KEYS  1 counter
-- 1  deleted | 0  there was none
-- Must not be repeated: the second run could delete a counter that was set since.
local counter = KEYS[1]
--@include semaphore/permits.inc
return redis.call('del', counter)
