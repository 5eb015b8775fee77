-- fair/acquire: take the lock when it is the owner's turn, else queue for it.  WIRE.md FairLock/acquire
-- KEYS  1 lock hash   2 queue, a list of owners   3 their timeouts, a zset of epoch ms   4 channel; each
--       waiter listens on <channel>:<owner>; as a key it is a set while others move up (fair/queue.inc)
-- ARGV  1 owner   2 lease ms   3 the count that the hold will have
--       4 an owner whose session is over and whose field this one replaces, or ''
--       5 how long it keeps its place in the queue from now on, ms; 0: it never queues
--       6 the head that nobody heard when it was told before, some time ago, or ''
--       7 how long the owner asked to keep its place when it queued, ms: those behind it move up by that
-- nil  held, with that count | n ≥ 0  another holds it: ask again after n ms
-- { n, head }  it is free, but not the owner's turn: the head was told, `0` (by one that never queues only
--       where it changed the head or freed the lock); ask again after n ms; head: nobody heard it, else ''
-- -3   the count is above 1, but the outer holds are gone: nothing changed
-- Also publishes `0` to those whose time in the queue was up, and to a new head when the lease is short.
-- May be repeated: it sets the count instead of raising it, never lowers the PTTL, and queues once.
local lock, queue, timeouts, channel = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local owner, lease_ms, count, over = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local wait_ms, unheard, place_ms = tonumber(ARGV[5]), ARGV[6], tonumber(ARGV[7])
--@include fair/queue.inc
local was_queued = wait_ms > 0 and redis.call('lpos', queue, owner)

-- At the end, with what is left of the one before it as the time until its own turn; or where it is, if it has
-- a place and a time already. Answers who is before it; false: nobody.
local function enqueue(own, pttl, head, head_score)
    local place = was_queued and redis.call('lpos', queue, owner)
    if place and (own or place == 0) then
        return place > 0 and redis.call('lindex', queue, place - 1)
    end
    local last = redis.call('lindex', queue, '-1')
    local score = last == head and head_score or last and redis.call('zscore', timeouts, last)
    local until_turn = math.max(0, score and tonumber(score) - now() or pttl)
    redis.call('zadd', timeouts, string.format('%.0f', until_turn + wait_ms + now()), owner)
    if not place then
        redis.call('rpush', queue, owner)
        return last
    end
    return redis.call('lindex', queue, place - 1)
end

-- One of the client that asks lives, whether it listens already or not.
local client = string.match(owner, '.*:') or owner

local function may_be_dead(other)
    return string.find(other, client, 1, true) ~= 1 and not is_heard(channel .. ':' .. other)
end

-- While another holds it. Nobody may be told when that ends: the head, or the one before the owner, may have
-- nobody listening, being dead, or about to subscribe; the key may vanish; or it has no end.
local function ask_again_after(pttl, head, before)
    local deaf = before and (may_be_dead(head) or (before ~= head and may_be_dead(before)))
    local longest = deaf and 2000 or sleep_ms
    return pttl >= 0 and math.min(pttl, longest) or longest
end

-- Who asks lives: its time is not up before it would be if it queued now for a free lock.
local own = was_queued and redis.call('zscore', timeouts, owner)
if own and tonumber(own) < now() + wait_ms then
    redis.call('zadd', timeouts, string.format('%.0f', now() + wait_ms), owner)
end
local head, head_score = head_of_queue()
local freed = over ~= '' and redis.call('hdel', lock, over) == 1
if freed then
    redis.call('del', lock)
end
local pttl = redis.call('pttl', lock)
if pttl == -2 then
    if head == unheard then
        head, head_score = call_head(unheard), nil
    end
    if count ~= '1' then
        if dropped or freed then
            call_head('')
        end
        return -3
    end
    if not head or head == owner then
        take_lock(owner, lease_ms, place_ms, head)
        call_next(tonumber(lease_ms), '')
        return nil
    end
elseif redis.call('hexists', lock, owner) == 1 then
    redis.call('hset', lock, owner, count)
    if pttl < tonumber(lease_ms) then
        redis.call('pexpire', lock, lease_ms)
    end
    return nil
elseif count ~= '1' then
    return -3
end
local before = wait_ms > 0 and enqueue(own, pttl, head, head_score)
if pttl ~= -2 then
    if dropped then
        call_next(pttl, owner)
    end
    return ask_again_after(pttl, head, before)
end
if wait_ms == 0 then
    if dropped or freed then
        call_head('')
    end
    return { 0, '' }
end
local told, heard = call_head(unheard)
local left_ms = tonumber(redis.call('zscore', timeouts, told)) - now()
return { math.min(heard and 2000 or 10000, left_ms), heard and '' or told }
