-- fair/give_up: leave the queue of a fair lock.
-- docs/internals/wire.md, FairLock/give up
-- KEYS  1 lock hash   2 queue   3 timeouts   4 channel (see fair/acquire)
-- ARGV  1 owner
--       2 how long the owner asked to keep its place when it joined the queue, ms. The timeouts of the owners
--         behind it are lowered by what is left of that.
--       3 1: the owner holds nothing that it knows of, so it also gives back what it was offered (fair/release)
-- Answers:
--   1            the owner has left the queue, or has given back the lock
--   { 1, head }  the same; the lock is free, and the head of the queue did not hear the wake-up
--   0            the owner was not in the queue, and was offered nothing
-- Publishes `0` to the head when the lock is free, and to a new head when the lock's PTTL is below 30 s.
-- Repeatable: a second run finds the owner gone.
local lock, queue, timeouts, channel = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local owner, place_ms = ARGV[1], tonumber(ARGV[2])
--@include fair/queue.inc
local place = redis.call('lpos', queue, owner)
place_ms = left_of(owner, place_ms)
forget(owner)
local offered = ARGV[3] == '1' and redis.call('hdel', lock, owner) == 1
if not place and not offered then
    return 0
end
if place then
    redis.call('lrem', queue, 0, owner)
    move_up(redis.call('lrange', queue, place, -1), place_ms, false)
end
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
