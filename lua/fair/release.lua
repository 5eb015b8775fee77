-- fair/release: give back one hold, or the last one.              WIRE.md FairLock/release
-- KEYS  1 lock hash   2 queue   3 timeouts   4 channel (see fair/acquire)
-- ARGV  1 owner   2 the count that the hold will have; 0: free the lock   3 lease ms
--       4 the head that nobody heard when it was told before, some time ago, or ''
--       5 the heir: an owner that has the lock next, with no message, if it is the head, or ''
--       6 the lease that the heir asked for, ms   7 how long it asked to keep its place, ms (see fair/acquire)
--       8 an owner that asks again before that lease can end, or ''
-- nil  not the owner, nothing changed | 0  still held | 1  freed, the head told: `0`
-- { n, head }  n = 1 freed, 0 it was free before; the head was told; head: nobody heard it, else ''
-- 2  freed, and the heir holds it, with count 1 | 3  not the owner, but the heir holds it
-- Also publishes `0` to those whose time in the queue was up, and to a new head when the heir's lease is short,
-- unless it asks in time by itself.
-- May be repeated: it sets the count; a second last release finds no field and, when the lock is free,
-- tells the head once more. The heir is given the lock by the owner alone, which is not an owner twice; a
-- second run finds it there.
local lock, queue, timeouts, channel = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local owner, count, lease_ms, unheard = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local heir, heir_lease_ms, heir_place_ms, calm = ARGV[5], ARGV[6], tonumber(ARGV[7]), ARGV[8]
--@include fair/queue.inc
-- The field of an exclusive lock's holder is its only one: with it, the lock is gone.
local held = redis.call(count == '0' and 'hdel' or 'hexists', lock, owner) == 1
if not held and redis.call('exists', lock) == 1 then
    if heir == '' or redis.call('hexists', lock, heir) == 0 then
        return nil
    end
    if redis.call('pttl', lock) < tonumber(heir_lease_ms) then
        redis.call('pexpire', lock, heir_lease_ms)
    end
    return 3
end
if held and count ~= '0' then
    redis.call('hset', lock, owner, count)
    if redis.call('pttl', lock) < tonumber(lease_ms) then
        redis.call('pexpire', lock, lease_ms)
    end
    return 0
end
-- Who waits in the releaser's process lives: its time is not up.
if held and heir ~= '' and (redis.call('lindex', queue, '0') == heir or head_of_queue() == heir) then
    take_lock(heir, heir_lease_ms, heir_place_ms, heir)
    call_next(tonumber(heir_lease_ms), calm)
    return 2
end
redis.call('del', lock)
local head, heard = call_head(unheard)
if held and (heard or not head) then
    return 1
end
return { held and 1 or 0, head and not heard and head or '' }
