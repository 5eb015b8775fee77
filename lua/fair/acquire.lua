-- fair/acquire: take a fair lock when it is the owner's turn, re-enter it, or join its queue.
-- docs/internals/wire.md, FairLock/acquire
-- KEYS  1 lock hash
--       2 queue, a list of owners
--       3 timeouts, a zset: owner -> epoch ms at which its place in the queue ends
--       4 channel; each waiter listens on <channel>:<owner>. Used as a key, it is a temporary set (fair/queue.inc)
-- ARGV  1 owner
--       2 lease, ms
--       3 hold count after this acquire
--       4 owner of a session that is over and whose field this acquire replaces, or ''
--       5 how long the owner keeps its place in the queue from now on, ms; 0: it never queues
--       6 head of the queue that did not hear an earlier wake-up, as an earlier run answered it; or ''
--       7 how long the owner has asked to keep its place since it joined the queue, ms: the longest. When it takes the
--         lock, the timeouts of all owners behind it are lowered by that.
--       8 present only if the owner may be offered the lock (fair/release)
-- Answers:
--   nil          the owner holds the lock with that hold count
--   n >= 0       another owner holds the lock; ask again after n ms at the latest
--   { n, head }  the lock is free, but it is not the owner's turn; ask again after n ms. head: the head of the
--                queue, if it did not hear the wake-up; else ''. For an owner that never queues: { 0, '' }.
--   -3           the hold count is above 1, but the outer holds are gone; nothing changed
-- Publishes `0`
--   to the head of the queue when the lock is free and it is not the owner's turn (not on behalf of an owner
--   that never queues, unless a head was dropped);
--   to every owner whose place in the queue has ended;
--   to a new head when the lock is taken for less than 30 s or its holder's PTTL is below that.
-- Repeatable: it sets the hold count instead of adding to it, never lowers the PTTL, and queues an owner once.
local lock, queue, timeouts, channel = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local owner, lease_ms, count, over = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local wait_ms, unheard, place_ms = tonumber(ARGV[5]), ARGV[6], tonumber(ARGV[7])
--@include fair/queue.inc
local was_queued = wait_ms > 0 and redis.call('lpos', queue, owner)

-- Asking proves that the owner is alive, so its timeout becomes now + wait_ms at least. If another thread of the owner
-- joined with a shorter wait, the timeout becomes what it would be after joining with this one. Those behind it have
-- their turn that much later, so their timeouts are raised with its own. Answers the owner's timeout.
local function stay(place, score)
    local least = now() + wait_ms
    if wait_ms > place_ms then
        local before = place > 0 and redis.call('zscore', timeouts, redis.call('lindex', queue, place - 1))
        least = math.max(least, (before and tonumber(before) or 0) + wait_ms)
        place_ms = wait_ms
    end
    if score < least then
        move_up(redis.call('lrange', queue, place, -1), score - least, false)
    end
    return math.max(score, least)
end

-- Notes what an offer to the owner has to know. `before` stands before it, or holds the lock; if that is of the same
-- client, its release hands the lock over (fair/release, ARGV 5). A hash of many fields is no lock, and may be too large to
-- be read each time.
local function expect_offer(before)
    before = before or redis.call('hlen', lock) <= 16 and redis.call('hgetall', lock)[1]
    if not before or string.sub(before, 1, 36) ~= string.sub(owner, 1, 36) then
        redis.pcall('hset', waiters, owner, lease_ms .. ' ' .. place_ms)
        redis.pcall('pexpire', waiters, 90000)
    end
end

-- Adds the owner to the end of the queue. Its timeout becomes the time that is left to the owner before it, plus
-- wait_ms. An owner that already has a place and a timeout keeps its place. Answers its place; 0: it is the head.
local function enqueue(own, pttl, head, head_score)
    local place = was_queued and redis.call('lpos', queue, owner)
    if place and (own or place == 0) then
        if own then
            stay(place, tonumber(own))
        end
        if ARGV[8] then
            expect_offer(place > 0 and redis.call('lindex', queue, place - 1))
        end
        return place
    end
    local last = redis.call('lindex', queue, '-1')
    local score = last == head and head_score or last and redis.call('zscore', timeouts, last)
    local until_turn = math.max(0, score and tonumber(score) - now() or pttl)
    redis.call('zadd', timeouts, string.format('%.0f', until_turn + wait_ms + now()), owner)
    if ARGV[8] then
        expect_offer(not place and last)
    end
    return place or redis.call('rpush', queue, owner) - 1
end

-- How long to sleep while another owner holds the lock. A message may never come: an owner to which the lock was
-- offered may have stopped, one that stands before this one may be dead, the lock's key may be deleted, or the lock
-- may have no expiry. The more owners there are, the less often each asks.
local function ask_again_after(pttl, place)
    local longest = math.min(sleep_ms, 1000 + place * 100)
    return pttl >= 0 and math.min(pttl, longest) or longest
end

local own = was_queued and redis.call('zscore', timeouts, owner)
if own and tonumber(own) <= now() then
    own = stay(was_queued, tonumber(own))
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
    local place = was_queued and redis.call('lpos', queue, owner)
    -- It queued, and another thread of the owner took the lock as another kind meanwhile.
    if place then
        place_ms = left_of(owner, place_ms)
        redis.call('lrem', queue, 0, owner)
        forget(owner)
        move_up(redis.call('lrange', queue, place, -1), place_ms, false)
    end
    redis.call('hset', lock, owner, count)
    if pttl < tonumber(lease_ms) then
        redis.call('pexpire', lock, lease_ms)
    end
    return nil
elseif count ~= '1' then
    return -3
end
local place = wait_ms > 0 and enqueue(own, pttl, head, head_score) or 0
if pttl ~= -2 then
    if dropped then
        call_next(pttl, owner)
    end
    return ask_again_after(pttl, place)
end
if wait_ms == 0 then
    if dropped or freed then
        call_head('')
    end
    return { 0, '' }
end
local told, heard = call_head(unheard)
local left_ms = tonumber(redis.call('zscore', timeouts, told)) - now()
return { math.min(2000, left_ms), heard and '' or told }
