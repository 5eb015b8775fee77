-- semaphore/acquire: take n permits, all or none.                 WIRE.md Semaphore/try acquire
-- KEYS  1 counter
-- ARGV  1 n, above 0
-- 1  taken | 0  there are fewer, or no counter: nothing changed
-- Must not be repeated: the second run would take n more.
local counter, n = KEYS[1], ARGV[1]
--@include semaphore/permits.inc
if not permits or tonumber(permits) < tonumber(n) then
    return 0
end
redis.call('decrby', counter, n)
return 1
