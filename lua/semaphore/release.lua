-- semaphore/release: give back n permits, or make them.           WIRE.md Semaphore/release
-- KEYS  1 counter
-- ARGV  1 channel   2 n, above 0   3 '1': only when there is a counter, else '0'
-- 1  given back, the permits that there are now published | 0  no counter, nothing changed
-- Must not be repeated: the second run would make n more.
local counter, channel, n, existing = KEYS[1], ARGV[1], ARGV[2], ARGV[3] == '1'
if existing and redis.call('exists', counter) == 0 then
    return 0
end
redis.call('publish', channel, string.format('%.0f', redis.call('incrby', counter, n)))
return 1
