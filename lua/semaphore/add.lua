-- semaphore/add: n permits more, or fewer.                        WIRE.md Semaphore/add permits
-- KEYS  1 counter
-- ARGV  1 channel   2 n, of any sign
-- 1  added, the permits that there are now published; the counter has no TTL any more
-- Must not be repeated: the second run would add n again.
local counter, channel, n = KEYS[1], ARGV[1], ARGV[2]
local permits = redis.call('incrby', counter, n)
redis.call('persist', counter)
redis.call('publish', channel, string.format('%.0f', permits))
return 1
