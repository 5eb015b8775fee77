-- lock/state: read whether a lock is held, for how long, and how often by one owner.
-- KEYS  1 lock hash
-- ARGV  1 owner
-- Answers { PTTL, count }:
--   PTTL   of the lock, ms; -1: no expiry, -2: not locked
--   count  the owner's hold count; 0: it does not hold the lock
-- Publishes nothing.
-- Repeatable: it changes nothing.
local lock, owner = KEYS[1], ARGV[1]
return { redis.call('pttl', lock), tonumber(redis.call('hget', lock, owner) or 0) }
