-- lock/state: who asks: is it locked, for how long, and how often by me?
-- KEYS  1 lock hash
-- ARGV  1 owner
-- { PTTL of the lock (-2: not locked), the owner's hold count (0: none) }
-- Changes nothing.
local lock, owner = KEYS[1], ARGV[1]
return { redis.call('pttl', lock), tonumber(redis.call('hget', lock, owner) or 0) }
