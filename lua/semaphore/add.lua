-- semaphore/add: change the number of permits by n.
-- docs/internals/wire.md, Semaphore/add permits
-- KEYS  1 counter
-- ARGV  1 channel
--       2 n, positive or negative
-- Answers:
--   1  added; the counter has no TTL from now on
-- Publishes the number of permits that are available now.
-- Not repeatable: a second run would add n again.
local counter, channel, n = KEYS[1], ARGV[1], ARGV[2]
local existed = redis.call('exists', counter)
local permits = redis.call('incrby', counter, n)
local refused = redis.pcall('persist', counter)
if type(refused) == 'table' then -- no right to it; INCRBY undoes what it did itself
    redis.call('incrby', counter, 0 - n)
    if existed == 0 then
        redis.pcall('del', counter)
    end
    return refused
end
redis.call('publish', channel, string.format('%.0f', permits))
return 1
