-- fair/give_up: leave the queue.                                  WIRE.md FairLock/give up
-- KEYS  1 lock hash   2 queue   3 timeouts   4 channel (see fair/acquire)
-- ARGV  1 owner   2 how long it would have kept its place, ms: those behind it move up by that
-- 1  it has left, and the head was told when the lock is free: `0` | 0  it was not in the queue
-- May be repeated: the second run finds nothing.
local lock, queue, timeouts, channel = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local owner, wait_ms = ARGV[1], tonumber(ARGV[2])
--@include fair/queue.inc
local found = false
for _, member in ipairs(redis.call('lrange', queue, 0, -1)) do
    if found then
        redis.call('zincrby', timeouts, -wait_ms, member)
    end
    found = found or member == owner
end
redis.call('zrem', timeouts, owner)
if not found then
    return 0
end
redis.call('lrem', queue, 0, owner)
if redis.call('exists', lock) == 0 then
    call_head('')
end
return 1
