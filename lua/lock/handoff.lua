-- lock/handoff: release the last hold and give the lock to a waiter of the releaser's process, in one step.
-- docs/internals/wire.md, RLock/release followed by RLock/acquire
-- KEYS  1 lock hash
--       2 token counter; present only if the successor waits through a fenced lock
-- ARGV  1 channel (an argument and not a key: a missing key would stop the script while its slot is moved)
--       2 owner, which releases
--       3 successor: the owner that receives the lock
--       4 lease that the successor asked for, ms
--       5 how many of the channel's subscribers belong to the releaser's process. If there are more, the lock is
--         freed instead, so that other processes get their turn. '': do not look for others
-- Answers:
--   2            the successor holds the lock with hold count 1
--   3            the owner does not hold the lock, but the successor does, for that lease at least
--   { n, token } n: 2 or 3; the same, for a successor that waits through a fenced lock
--   n <= 0       the lock was freed; -n subscribers heard `0`. Where the count is incomplete, -n is one more than
--                the releaser's own subscribers
--   nil          neither the owner nor the successor holds the lock; nothing changed
-- Publishes `0` when it freed the lock, and when the successor's lease may end before the owner's would have:
-- waiters sleep for the PTTL that they were told, and must learn of the shorter one.
-- Repeatable: only a run that finds the owner's field hands the lock over, which happens once. A second run finds
-- the successor's field or nothing. A token whose answer was lost is skipped.
local lock, counter = KEYS[1], KEYS[2]
local channel, owner, heir, lease_ms, ours = ARGV[1], ARGV[2], ARGV[3], ARGV[4], tonumber(ARGV[5])

-- Whether PUBLISH counts every subscriber. In pub/sub mode scattered it does not, because subscribers may be
-- connected to other servers: lua/embed.sh writes false here.
local counted = true

local function free()
    redis.call('del', lock)
    local heard = redis.call('publish', channel, '0')
    return -(counted and heard or 1 + (ours or 0))
end

-- If the user has no right to PUBSUB, others are assumed: the lock is freed, and PUBLISH counts the subscribers.
local function others_listen()
    local count = counted and redis.pcall('pubsub', 'numsub', channel)[2]
    return not count or count > ours
end

-- Answers false if the counter is a key of another type.
local function draw_token()
    return type(redis.pcall('incr', counter)) == 'number'
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
if (ours and others_listen()) or (counter and not draw_token()) then
    return free()
end
local pttl = redis.call('pttl', lock)
-- The order of the writes matters. A server at its maxmemory refuses HSET to a script that has written nothing,
-- but not to one that has already written with a command that needs no memory. And while a slot is moved, a script
-- cannot create a deleted key again, so the successor's field is written before the owner's is deleted.
redis.call('pexpire', lock, lease_ms)
redis.call('hset', lock, heir, '1')
redis.call('hdel', lock, owner)
if tonumber(lease_ms) < pttl then
    redis.call('publish', channel, '0')
end
return counter and { 2, redis.call('get', counter) } or 2
