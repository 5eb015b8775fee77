-- semaphore/acquire: take n permits, all or none.
-- docs/internals/wire.md, Semaphore/try acquire
-- KEYS  1 counter
-- ARGV  1 n, above 0
-- Answers:
--   1   taken
--   0   fewer than n permits are available; nothing changed
--   -1  there is no counter
-- Publishes nothing.
-- Not repeatable: a second run would take n more.
local counter, n = KEYS[1], ARGV[1]
--@include semaphore/permits.inc
if not permits then
    return -1
end
if tonumber(permits) < tonumber(n) then
    return 0
end
redis.call('decrby', counter, n)
return 1
