-- fair/acquire: take the lock when it is the owner's turn, else queue for it.  WIRE.md FairLock/acquire
-- KEYS  1 lock hash   2 queue, a list of owners   3 their timeouts, a zset of epoch ms   4 channel; each
--       waiter listens on <channel>:<owner>
-- ARGV  1 owner   2 lease ms   3 the count that the hold will have
--       4 an owner whose session is over and whose field this one replaces, or ''
--       5 how long it keeps its place in the queue from now on, ms; 0: it never queues
--       6 the head that nobody heard when it was told before, some time ago, or ''
--       7 how long the owner asked to keep its place when it queued, ms: those behind it move up by that
-- nil  held, with that count | n ≥ 0  another holds it: ask again after n ms
-- { n, head }  it is free, but not the owner's turn: the head was told, `0` (not by one that never
--       queues); ask again after n ms; head: nobody heard it, else ''
-- -3   the count is above 1, but the outer holds are gone: nothing changed
-- Also publishes `0` to those whose time in the queue was up, and to a new head when the lease is short.
-- May be repeated: it sets the count instead of raising it, never lowers the PTTL, and queues once.
local lock, queue, timeouts, channel = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local owner, lease_ms, count, over = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), ARGV[4]
local wait_ms, unheard, place_ms = tonumber(ARGV[5]), ARGV[6], tonumber(ARGV[7])
--@include fair/queue.inc

-- At the end, with what is left of the one before it as the time until its own turn.
local function enqueue(pttl)
    local members = redis.call('lrange', queue, 0, -1)
    local queued = false
    for _, member in ipairs(members) do
        queued = queued or member == owner
    end
    if queued and redis.call('zscore', timeouts, owner) then
        return
    end
    local last = members[#members]
    local score = last and redis.call('zscore', timeouts, last)
    local until_turn = math.max(0, score and tonumber(score) - now or pttl)
    redis.call('zadd', timeouts, string.format('%.0f', until_turn + wait_ms + now), owner)
    if not queued then
        redis.call('rpush', queue, owner)
    end
end

-- Whether the head, or the one before the owner, has nobody listening: dead, or about to subscribe.
local function somebody_deaf()
    local members = redis.call('lrange', queue, 0, -1)
    for i, member in ipairs(members) do
        if member == owner then
            return false
        end
        if (i == 1 or members[i + 1] == owner) and not is_heard(channel .. ':' .. member) then
            return true
        end
    end
    return false
end

-- While another holds it. Nobody may be told when that ends: the one to be told may be dead, then or by
-- then; the key may vanish; or it has no end.
local function ask_again_after(pttl)
    local longest = wait_ms > 0 and somebody_deaf() and 2000 or sleep_ms
    return pttl >= 0 and math.min(pttl, longest) or longest
end

-- Who asks lives: its time is not up before it would be if it queued now for a free lock.
local own = wait_ms > 0 and redis.call('zscore', timeouts, owner)
if own and tonumber(own) < now + wait_ms then
    redis.call('zadd', timeouts, string.format('%.0f', now + wait_ms), owner)
end
local head = head_of_queue()
if over ~= '' and redis.call('hdel', lock, over) == 1 then
    redis.call('del', lock)
end
local pttl = redis.call('pttl', lock)
if pttl == -2 then
    if head == unheard then
        head = call_head(unheard)
    end
    if count > 1 then
        if dropped then
            call_head('')
        end
        return -3
    end
    if not head or head == owner then
        take_lock(owner, lease_ms, place_ms, head)
        call_next(redis.call('lindex', queue, 0), lease_ms)
        return nil
    end
elseif redis.call('hexists', lock, owner) == 1 then
    redis.call('hset', lock, owner, count)
    if pttl < lease_ms then
        redis.call('pexpire', lock, lease_ms)
    end
    return nil
elseif count > 1 then
    return -3
end
if wait_ms > 0 then
    enqueue(pttl)
end
if pttl ~= -2 then
    if dropped and head ~= owner then
        call_next(head, pttl)
    end
    return ask_again_after(pttl)
end
if wait_ms == 0 then
    if dropped then
        call_head('')
    end
    return { 0, '' }
end
local told, heard = call_head(unheard)
local left_ms = tonumber(redis.call('zscore', timeouts, told)) - now
return { math.min(heard and 2000 or 10000, left_ms), heard and '' or told }
