-- fair/give_up: leave the queue.                                  WIRE.md FairLock/give up
-- KEYS  1 lock hash   2 queue   3 timeouts   4 channel (see fair/acquire)
-- ARGV  1 owner   2 how long it asked to keep its place when it queued, ms: those behind it move up by that
-- 1  it has left; the head was told, `0`, when the lock is free, and a new one when it may soon be
-- 0  it was not in the queue
-- { 1, head }  it has left, the lock is free, and the head did not hear it
-- May be repeated: the second run finds nothing.
local lock, queue, timeouts, channel = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local owner, place_ms = ARGV[1], tonumber(ARGV[2])
--@include fair/queue.inc
local place = redis.call('lpos', queue, owner)
redis.call('zrem', timeouts, owner)
if not place then
    return 0
end
redis.call('lrem', queue, 0, owner)
move_up(redis.call('lrange', queue, place, -1), place_ms, false)
local pttl = redis.call('pttl', lock)
if pttl == -2 then
    local head, heard = call_head('')
    if head and not heard then
        return { 1, head }
    end
elseif place == 0 then
    call_next(pttl, '')
end
return 1
