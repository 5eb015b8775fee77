-- token/state: read whether a token lock is held, for how long, and whether by one owner.
-- KEYS  1 the lock, a string: the token of its owner
-- ARGV  1 owner's token
-- Answers { PTTL, count }:
--   PTTL   of the lock, ms; -1: no expiry, -2: not locked
--   count  0: the owner does not hold the lock; 2147483647: it does, and its process knows how often
-- Publishes nothing.
-- Repeatable: it changes nothing.
local lock, owner = KEYS[1], ARGV[1]
return { redis.call('pttl', lock), redis.call('get', lock) == owner and 2147483647 or 0 }
