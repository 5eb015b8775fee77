-- object/expire: set the time to live of a semaphore or latch.
-- docs/internals/wire.md, Time to live/expire
-- KEYS  1 counter
--       2 of a permit-expirable semaphore: permits, a zset; else there is no second key
-- ARGV  1 time to live, ms, or, with 2, the instant of the end, epoch ms
--       2 1: argument 1 is an instant; 0: it is a time to live
--       3 when: 0 always; 1 only if there is an expiry; 2 only if there is none; 3 only if the new one is later than the
--         old one (none counts as the latest); 4 only if it is earlier
--       4 of a latch: the channel; else ''
-- Answers:
--   1  set
--   0  there is no counter, or the condition does not hold; nothing changed
-- Publishes `1` on the channel of a latch whose expiry it set: its waiters sleep until the end that they were told.
-- Not repeatable: a second run would find the expiry that the first one set.
local counter, value, absolute, when, channel = KEYS[1], ARGV[1], ARGV[2] == '1', ARGV[3], ARGV[4]
if not redis.call('get', counter) then
    return 0
end
local old_ms, new_ms = redis.call('pttl', counter), tonumber(value)
if absolute then
    local time = redis.call('time')
    new_ms = new_ms - (time[1] * 1000 + math.floor(time[2] / 1000))
end
if when == '1' and old_ms < 0 or when == '2' and old_ms >= 0 or when == '3' and (old_ms < 0 or new_ms <= old_ms) or
    when == '4' and old_ms >= 0 and new_ms >= old_ms then
    return 0
end
for _, key in ipairs(KEYS) do
    if absolute then
        redis.call('pexpireat', key, value)
    else
        redis.call('pexpire', key, value)
    end
end
if channel ~= '' then
    redis.call('publish', channel, '1')
end
return 1
