-- permit_semaphore/release: release one permit.
-- docs/internals/wire.md, Permit-expirable semaphore/Release of one id
-- KEYS  1 counter   2 permits, a zset: id -> expiry, epoch ms   3 channel
-- ARGV  1 id, 16 bytes
-- Answers:
--   1   released
--   -1  given back, but its lease had already expired
--   0   there is no such permit; nothing changed
-- Publishes the number available when a permit was given back.
-- Repeatable: a second run finds no such permit.
local counter, permits, channel, id = KEYS[1], KEYS[2], KEYS[3], ARGV[1]
--@include permit_semaphore/expired.inc
local expiry = redis.call('zscore', permits, id)
if not expiry then
    return 0
end
-- The first removes nothing. It fails for a user without the right to it, while nothing has changed; and a server at its
-- maxmemory refuses INCRBY to a script that has not yet written (lock/waiters.inc).
redis.call('zrem', permits, '')
available = redis.call('incrby', counter, 1)
redis.call('zrem', permits, id)
redis.call('publish', channel, string.format('%.0f', available))
return tonumber(expiry) > now and 1 or -1
