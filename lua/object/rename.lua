-- object/rename: give a semaphore or latch another name.
-- docs/internals/wire.md, Time to live/rename
-- KEYS  1 counter under the old name   2 counter under the new name
--       3, 4 of a permit-expirable semaphore: its permits under the old and under the new name; else there are no such keys
-- ARGV  1 1: only if there is no object of the new name; 0: replace it
--       2 channel of the new name
--       3 of a latch: the channel of the old name; else ''
-- Answers:
--   1   renamed
--   0   there is an object of the new name; nothing changed
--   -1  there is no object of the old name; nothing changed
-- Publishes on the new channel what a new counter publishes there (a semaphore its permits, a latch `1`), and `0` on the
-- old channel of a latch, which is open now.
-- Not repeatable: a second run would answer -1, or rename another object that was made in between.
local old, new, only_absent, channel, opened = KEYS[1], KEYS[2], ARGV[1] == '1', ARGV[2], ARGV[3]
local value = redis.call('get', old)
if not value then
    return -1
end
if old == new or only_absent and redis.call('exists', new) == 1 then
    return only_absent and 0 or 1
end
local has_permits = KEYS[3] and redis.call('exists', KEYS[3]) == 1
redis.call('rename', old, old) -- changes nothing; without the right to it nothing is deleted, either
if KEYS[3] then
    redis.call('del', KEYS[4])
    if has_permits then
        redis.call('rename', KEYS[3], KEYS[4])
    end
end
redis.call('rename', old, new)
redis.call('publish', channel, opened ~= '' and '1' or value)
if opened ~= '' then
    redis.call('publish', opened, '0')
end
return 1
