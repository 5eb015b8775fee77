-- write/state: who asks: does anybody write, for how long, and how often do I?
-- KEYS  1 lock hash
-- ARGV  1 owner
-- { PTTL of the lock (-2: nobody writes), the owner's write holds (0: none) }
-- Changes nothing.
local lock, owner = KEYS[1], ARGV[1]
local written = redis.call('hget', lock, 'mode') == 'write'
return { written and redis.call('pttl', lock) or -2, tonumber(redis.call('hget', lock, owner .. ':write') or 0) }
