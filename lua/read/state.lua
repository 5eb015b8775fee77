-- read/state: read whether there are readers, for how long, and how often one owner reads.
-- KEYS  1 lock hash
-- ARGV  1 owner
-- Answers { PTTL, count }:
--   PTTL   of the lock, ms; -1: no expiry, -2: nobody reads
--   count  the owner's read holds; 0: none
-- Publishes nothing.
-- Repeatable: it changes nothing.
local lock, owner = KEYS[1], ARGV[1]
local mode, fields = redis.call('hget', lock, 'mode'), redis.call('hlen', lock)
-- In mode write, any field besides the mode and the writer's own is a reader's.
local read = mode == 'read' or (mode == 'write' and fields > 2)
return { read and redis.call('pttl', lock) or -2, tonumber(redis.call('hget', lock, owner) or 0) }
