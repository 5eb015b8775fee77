-- lock/handoff: give back the last hold, to one who waits in the releaser's process.
--                                                                 WIRE.md RLock/release, then acquire
-- KEYS  1 lock hash   2 token counter, where the heir asked through a fenced lock; else there is none
-- ARGV  1 channel   2 owner   3 the heir: the owner that has the lock next   4 the lease that it asked for, ms
--       5 how many of the channel's listeners are the releaser's own: where there are others, it is theirs
--         to come first this time; or '' when nobody need be looked for
--       The channel is no key: as one that is missing it would stop the script while the slot moves.
-- 2  the heir holds it, with count 1 | 3  not the owner, but the heir holds it, for that lease at least
-- { 2 or 3, token }  the same through a fenced lock
-- n ≤ 0  freed, `0` published: -n heard it, more than the releaser's own where that is not known
-- nil  not the owner, and the heir does not hold it: nothing changed
-- Also publishes `0` when the heir's lease may end before the owner's would have: who sleeps until then looks again.
-- May be repeated: the heir is given the lock by the owner alone, which is not an owner twice; a second run finds
-- the heir there, or nothing. A token that nobody heard of is skipped.
local lock, counter = KEYS[1], KEYS[2]
local channel, owner, heir, lease_ms, ours = ARGV[1], ARGV[2], ARGV[3], ARGV[4], tonumber(ARGV[5])

-- Whether the count of receivers is complete: not so where others listen at other servers (lua/embed.sh
-- then puts false here).
local counted = true

local function free()
    redis.call('del', lock)
    local heard = redis.call('publish', channel, '0')
    return -(counted and heard or 1 + (ours or 0))
end

-- This user may not be allowed to ask: then the lock is freed, and publishing counts them.
local function others_listen()
    local count = counted and redis.pcall('pubsub', 'numsub', channel)[2]
    return not count or count > ours
end

-- False: the counter is a key of another type.
local function draw_token()
    return type(redis.pcall('incr', counter)) == 'number'
end

if redis.call('hexists', lock, owner) == 0 then
    if redis.call('hexists', lock, heir) == 0 then
        return nil
    end
    if redis.call('pttl', lock) < tonumber(lease_ms) then
        redis.call('pexpire', lock, lease_ms) -- a late question of its own may have set another
    end
    return not counter and 3 or draw_token() and { 3, redis.call('get', counter) } or nil
end
if (ours and others_listen()) or (counter and not draw_token()) then
    return free()
end
local pttl = redis.call('pttl', lock)
-- In this order: a server at its maxmemory refuses a script no memory once it has written what needs none; and a key
-- that has gone can't be made again by a script while its slot moves.
redis.call('pexpire', lock, lease_ms)
redis.call('hset', lock, heir, '1')
redis.call('hdel', lock, owner)
if tonumber(lease_ms) < pttl then
    redis.call('publish', channel, '0')
end
return counter and { 2, redis.call('get', counter) } or 2
