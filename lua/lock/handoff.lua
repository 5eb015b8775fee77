-- lock/handoff: release the last hold and give the lock to a waiter of the releaser's process, in one step.
-- docs/internals/wire.md, RLock/release followed by RLock/acquire
-- KEYS  1 lock hash
--       2 token counter; present only if the successor waits through a fenced lock
-- ARGV  1 channel (an argument and not a key: a missing key would stop the script while its slot is moved)
--       2 owner, which releases
--       3 successor: the owner that receives the lock
--       4 lease that the successor asked for, ms
--       5 how many of the channel's subscribers belong to the releaser's process, without those that listen to the
--         channel `guards` as well (waiters.inc). If others wait, the lock goes to them instead, so that they get their
--         turn. '': do not look for others; -1: free the lock in any case
--       6 lease with which the successor stands in the registry of waiters (registry.inc), or is to; '': it never did
--       7 register the successor if the lock goes to a registered waiter: since when it has waited, by the server's
--         clock in us, or 0: from now; '': it is not to be registered
-- Answers:
--   2            the successor holds the lock with hold count 1
--   3            the owner does not hold the lock, but the successor does, for that lease at least
--   { n, token } n: 2 or 3; the same, for a successor that waits through a fenced lock
--   4            the lock is offered to a registered waiter; the successor is registered, too, if that was asked for
--   5            the lock was freed for others, and a registered waiter is told so; the successor is or was registered, too
--   n <= 0       the lock was freed; -n subscribers, without guards, heard `0`. Where the count is incomplete, -n is one
--                more than the releaser's own subscribers
--   nil          neither the owner nor the successor holds the lock; nothing changed
-- Publishes `0` when it freed the lock, and when the successor's lease may end before the owner's would have:
-- waiters sleep for the PTTL that they were told, and must learn of the shorter one. With that, `0` is published on the
-- channel of the client of the first registered waiter that hears; with an offer, `NUMBER MS` (waiters.inc).
-- Repeatable: only a run that finds the owner's field hands the lock over, which happens once. A second run finds
-- the successor's field or nothing. A token whose answer was lost is skipped.
local lock, counter = KEYS[1], KEYS[2]
local channel, owner, heir, lease_ms, ours = ARGV[1], ARGV[2], ARGV[3], ARGV[4], tonumber(ARGV[5])
local place_ms, since = ARGV[6], ARGV[7]
local member = heir .. ' ' .. place_ms
--@include lock/registry.inc

-- Answers false if the counter is a key of another type, or negative (fenced/draw.inc).
local function draw_token()
    local token = redis.pcall('incr', counter)
    if type(token) == 'number' and token < 1 then
        redis.pcall('decr', counter)
        return false
    end
    return type(token) == 'number'
end

if redis.call('hexists', lock, owner) == 0 then
    if redis.call('hexists', lock, heir) == 0 then
        return nil
    end
    if redis.call('pttl', lock) < tonumber(lease_ms) then
        redis.call('pexpire', lock, lease_ms) -- a late request of the same owner may have set another
    end
    return not counter and 3 or draw_token() and { 3, redis.call('get', counter) } or nil
end
local pttl = redis.call('pttl', lock)
-- Most runs have neither, and are spared what only these need.
if ours or counter then
    -- Answers how many others listen.
    local function others_listen()
        local others
        --@include lock/others.inc
        return others
    end

    -- Tells the first registrant that hears `what`, but not `spared`. With `offered_by` offers it the lock of that owner
    -- instead. Answers whether one heard.
    local function call_waiter(what, spared, offered_by)
        --@include lock/first.inc
        from, except, told_what = offered_by, spared, what
        --@include lock/waiters.inc
        return told
    end

    -- Registers the successor if that was asked for. Answers whether it is registered.
    local function register()
        if since == '' then
            return false
        elseif since == '0' then
            --@include lock/now.inc
        end
        local added = since and redis.pcall('zadd', waiters, 'NX', since, member)
        redis.pcall('pexpire', waiters, '90000')
        return type(added) == 'number'
    end

    -- Frees the lock. Answers how many others listen: `known`, else how many heard `0`.
    local function free(known)
        redis.call('del', lock)
        local heard = redis.call('publish', channel, '0')
        return counted and (known or heard) or 1 + (ours or 0)
    end

    -- The others, so many, come first. Tells so the guards, and the first registrant, which may be the successor: it asks
    -- after them. A successor whose client did not hear may have lost its place.
    local function let_others_come_first(others)
        redis.pcall('publish', channel .. ':guards', 'others')
        local registered = register()
        local told = call_waiter('others')
        local heirs_client = string.match(heir, '^(.*):%d+$')
        return told and registered and not (gone and gone[heirs_client]) and 5 or -others
    end

    -- Gives the lock to others if there are any. Answers nil if there are none.
    local function yield()
        local first = redis.pcall('zrange', waiters, '0', '1')
        local waited_for = first[1] ~= member and first[1] or first[2]
        local known = counted and others_listen()
        local others = known or 1 + ours -- mode scattered, or no right to ask: assume one
        local offered = waited_for and others <= ours
        if offered and call_waiter(nil, member, owner) then
            register()
            return 4
        elseif offered and redis.call('exists', lock) == 0 then -- freed, since the user lacks a right (waiters.inc)
            return -redis.call('publish', channel, '0')
        elseif others <= ours then
            return nil
        end
        others = free(known)
        if counted and ours >= 0 and others > ours then
            return let_others_come_first(others)
        elseif waited_for then
            call_waiter('0', member)
        end
        return -others
    end

    local yielded = ours and yield()
    if yielded then
        return yielded
    end
    if counter and not draw_token() then
        local others = free(counted and others_listen())
        call_waiter('0', member)
        return -others
    end
end
-- The order of the writes matters: see waiters.inc.
redis.call('pexpire', lock, lease_ms)
redis.call('hset', lock, heir, '1')
local freed = type(redis.pcall('hdel', lock, owner)) == 'table' -- without the right to this, both would stand there
if freed then
    redis.call('del', lock)
elseif place_ms ~= '' then
    redis.pcall('zrem', waiters, member)
end
local heard = 0
if freed or tonumber(lease_ms) < pttl then
    heard = redis.call('publish', channel, '0')
    --@include lock/first.inc
    --@include lock/waiters.inc
end
if freed then
    return -heard
end
return counter and { 2, redis.call('get', counter) } or 2
