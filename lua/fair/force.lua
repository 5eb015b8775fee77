-- fair/force: free a fair lock, whoever holds it.
-- docs/internals/wire.md, FairLock/force
-- KEYS  1 lock hash   2 queue   3 timeouts   4 channel (see fair/acquire)
-- ARGV  none
-- Answers:
--   1            the lock was held and is free now
--   { 1, head }  the same, and the head of the queue did not hear the wake-up
--   0            the lock was free
-- Publishes `0` to the head of the queue, and to every owner whose place in the queue has ended.
-- Not repeatable: a second run could free the lock of the next owner.
local lock, queue, timeouts, channel = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local owner = '' -- it is nobody's request
--@include fair/queue.inc
if redis.call('hlen', lock) == 0 then -- an error for a key of another type, which is not ours to delete
    return 0
end
redis.call('del', lock)
local head, heard = call_head('')
if head and not heard then
    return { 1, head }
end
return 1
