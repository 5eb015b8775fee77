-- object/clear_expire: remove the expiry of a semaphore or latch.
-- docs/internals/wire.md, Time to live/clear expire
-- KEYS  1 counter
--       2 of a permit-expirable semaphore: permits, a zset; else there is no second key
-- ARGV  none
-- Answers:
--   1  removed
--   0  there is no counter, or it has no expiry; nothing changed
-- Publishes nothing.
-- Not repeatable: a second run would answer 0, or remove an expiry that was set in between.
if not redis.call('get', KEYS[1]) then
    return 0
end
local removed = redis.call('persist', KEYS[1])
if KEYS[2] then
    redis.call('persist', KEYS[2])
end
return removed
