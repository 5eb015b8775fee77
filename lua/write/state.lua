-- write/state: read whether there is a writer, for how long, and how often one owner writes.
-- KEYS  1 lock hash
-- ARGV  1 owner
-- Answers { PTTL, count }:
--   PTTL   of the lock, ms; -1: no expiry, -2: nobody writes
--   count  the owner's write holds; 0: none
-- Publishes nothing.
-- Repeatable: it changes nothing.
local lock, owner = KEYS[1], ARGV[1]
local written = redis.call('hget', lock, 'mode') == 'write'
return { written and redis.call('pttl', lock) or -2, tonumber(redis.call('hget', lock, owner .. ':write') or 0) }
