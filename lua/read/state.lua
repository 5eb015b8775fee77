-- read/state: who asks: does anybody read, for how long, and how often do I?
-- KEYS  1 lock hash
-- ARGV  1 owner
-- { PTTL of the lock (-2: nobody reads), the owner's read holds (0: none) }
-- Changes nothing.
local lock, owner = KEYS[1], ARGV[1]
local mode, fields = redis.call('hget', lock, 'mode'), redis.call('hlen', lock)
-- beside the mode and the writer's own field only readers have any
local read = mode == 'read' or (mode == 'write' and fields > 2)
return { read and redis.call('pttl', lock) or -2, tonumber(redis.call('hget', lock, owner) or 0) }
