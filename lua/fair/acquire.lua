-- fair/acquire: take the lock when it is the owner's turn, else queue for it.  WIRE.md FairLock/acquire
-- KEYS  1 lock hash   2 queue, a list of owners   3 their timeouts, a zset of epoch ms   4 channel; each
--       waiter listens on <channel>:<owner>
-- ARGV  1 owner   2 lease ms   3 the count that the hold will have
--       4 an owner whose session is over and whose field this one replaces, or ''
--       5 how long it keeps its place in the queue, ms; 0: it never queues
--       6 the head that nobody heard when it was told before, some time ago, or ''
-- nil  held, with that count | n ≥ -1  another holds it: ask again after n ms (-1: when told)
-- { n, head }  it is free, but not the owner's turn: the head was told, `0`; ask again after n ms;
--       head: nobody heard it, else ''
-- -3   the count is above 1, but the outer holds are gone: nothing changed
-- May be repeated: it sets the count instead of raising it, never lowers the PTTL, and queues once.
local lock, queue, timeouts, channel = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local owner, lease_ms, count, over = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), ARGV[4]
local wait_ms, unheard = tonumber(ARGV[5]), ARGV[6]
--@include fair/queue.inc

local function hold()
    redis.call('hset', lock, owner, count)
    if redis.call('pttl', lock) < lease_ms then
        redis.call('pexpire', lock, lease_ms)
    end
end

-- At the end, with what is left of the one before it as the time until its own turn.
local function enqueue(pttl)
    if redis.call('zscore', timeouts, owner) then
        return
    end
    local members = redis.call('lrange', queue, 0, -1)
    local last = members[#members]
    local score = last and redis.call('zscore', timeouts, last)
    local until_turn = math.max(0, score and tonumber(score) - now or pttl)
    redis.call('zadd', timeouts, string.format('%.0f', until_turn + wait_ms + now), owner)
    for _, member in ipairs(members) do
        if member == owner then
            return
        end
    end
    redis.call('rpush', queue, owner)
end

-- Whether the head, or the one before the owner, has nobody listening: dead, or about to subscribe.
local function somebody_deaf()
    local members = redis.call('lrange', queue, 0, -1)
    local channels = {}
    for i, member in ipairs(members) do
        if member == owner then
            break
        end
        if i == 1 or members[i + 1] == owner then
            channels[#channels + 1] = channel .. ':' .. member
        end
    end
    local counts = #channels > 0 and redis.pcall('pubsub', 'numsub', unpack(channels)) or {}
    for i = 2, #counts do
        if counts[i] == 0 then
            return true
        end
    end
    return false
end

local head = head_of_queue()
if over ~= '' and redis.call('hdel', lock, over) == 1 then
    redis.call('del', lock)
end
local pttl = redis.call('pttl', lock)
if pttl == -2 then
    if count > 1 then
        return -3
    end
    if head == unheard then
        head = call_head(unheard)
    end
    if not head or head == owner then
        if head then
            remove_head(head)
        end
        for _, member in ipairs(redis.call('zrange', timeouts, 0, -1)) do
            redis.call('zincrby', timeouts, -wait_ms, member)
        end
        hold()
        return nil
    end
elseif redis.call('hexists', lock, owner) == 1 then
    hold()
    return nil
elseif count > 1 then
    return -3
end
if wait_ms > 0 then
    enqueue(pttl)
end
if pttl ~= -2 then
    return wait_ms > 0 and pttl > 10000 and somebody_deaf() and 10000 or pttl
end
if wait_ms == 0 then
    return { 0, '' }
end
local told, heard = call_head(unheard)
return { math.min(10000, tonumber(redis.call('zscore', timeouts, told)) - now), heard and '' or told }
