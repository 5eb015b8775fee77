-- semaphore/release: release n permits; they need not have been taken before.
-- docs/internals/wire.md, Semaphore/release
-- KEYS  1 counter
-- ARGV  1 channel
--       2 n, above 0
--       3 '1': only if there is a counter; '0': create it if there is none
-- Answers:
--   1  released
--   0  there is no counter, and ARGV 3 is '1'; nothing changed
-- Publishes the number of permits that are available now, when it released.
-- Not repeatable: a second run would add n more.
local counter, channel, n, existing = KEYS[1], ARGV[1], ARGV[2], ARGV[3] == '1'
if existing and not redis.call('get', counter) then -- whoever has acquired may do that
    return 0
end
--@include semaphore/write_first.inc
redis.call('publish', channel, string.format('%.0f', redis.call('incrby', counter, n)))
return 1
