-- fair/release: release one hold of a fair lock, or free it with the last one.
-- docs/internals/wire.md, FairLock/release
-- KEYS  1 lock hash   2 queue   3 timeouts   4 channel (see fair/acquire)
-- ARGV  1 owner
--       2 hold count after this release; 0: free the lock
--       3 lease, ms
--       4 head of the queue that did not hear an earlier wake-up, or ''
--       5 successor: a waiter of the same process that receives the lock, without a message, if it is the head
--         of the queue; or ''
--       6 lease that the successor asked for, ms
--       7 how long the successor asked to keep its place in the queue, ms (see fair/acquire)
--       8 an owner that asks again before that lease can end, or ''
-- Answers:
--   nil          the owner does not hold the lock; nothing changed
--   0            the owner still holds the lock
--   1            freed; the queue is empty, or its head heard the wake-up or was offered the lock
--   { n, head }  n: 1 freed, 0 the lock was free before. head: the head of the queue, if it did not hear the
--                wake-up; else ''
--   2            freed, and the successor holds the lock with hold count 1
--   3            the owner does not hold the lock, but the successor does
-- Publishes `0`
--   to the head of the queue when the lock is free; but `NUMBER MS` to a head that it offers the lock to;
--   to every owner whose place in the queue has ended;
--   to a new head when the lease of who has the lock now is below 30 s, unless the head is the owner in ARGV 8.
-- Repeatable: it sets the hold count. A second last release finds no field; if the lock is free, it wakes the head
-- once more. Only a run that finds the owner's field hands the lock to the successor, which happens once; a
-- second run finds the successor there.
local lock, queue, timeouts, channel = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local owner, count, lease_ms, unheard = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local heir, heir_lease_ms, heir_place_ms, calm = ARGV[5], ARGV[6], tonumber(ARGV[7]), ARGV[8]
--@include fair/queue.inc

-- Offers the lock to the head, if that waits for it (fair/acquire, ARGV 8) and hears: the head leaves the queue and has the
-- lock, but only for so long that it can answer. The message says which session has it, and for how many ms.
-- The releaser's field goes first: an error in between, as of a user that may not publish, must not leave both. After a
-- command that needs no memory, a server at its maxmemory does not refuse HSET. Answers whether it did.
local function offer(head)
    local said = counted and head ~= owner and redis.pcall('hget', waiters, head)
    local wanted_ms, place_ms = string.match(type(said) == 'string' and said or '', '^(%d+) (%d+)$')
    if not wanted_ms then
        return false
    end
    local while_ms
    --@include lock/offer_ms.inc
    redis.call('hdel', lock, owner)
    redis.call('hset', lock, head, '1')
    if type(redis.pcall('pexpire', lock, while_ms)) == 'table' then -- a user without the right to that
        return false
    end
    if not tell(head, string.match(head, '%d+$') .. ' ' .. while_ms) then
        return false
    end
    redis.call('lpop', queue)
    end_place(head, tonumber(place_ms))
    if wanted_ms < sleep_ms then
        call_next(while_ms, '')
    end
    return true
end

local held = redis.call('hexists', lock, owner) == 1
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
-- The successor waits in the releaser's process, so it is alive and its place in the queue has not ended.
local head = held and heir ~= '' and redis.call('lindex', queue, '0') == heir and heir or head_of_queue()
if held and heir ~= '' and head == heir then
    redis.call('hdel', lock, owner)
    take_lock(heir, heir_lease_ms, heir_place_ms, heir)
    call_next(tonumber(heir_lease_ms), calm)
    return 2
end
if held and head and offer(head) then
    return 1
end
redis.call('del', lock)
local told, heard = call_head(unheard, head)
if held and (heard or not told) then
    return 1
end
return { held and 1 or 0, told and not heard and told or '' }
