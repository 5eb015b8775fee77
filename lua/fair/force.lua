-- fair/force: free the lock, whoever holds it.                    WIRE.md FairLock/force
-- KEYS  1 lock hash   2 queue   3 timeouts   4 channel (see fair/acquire)
-- 1  it was held, the head told: `0` | 0  it was free
-- { 1, head }  it was held, and the head did not hear it
-- Must not be repeated: the second run could free the lock of the next owner.
local lock, queue, timeouts, channel = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
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
