-- spin/force: free the lock, whoever holds it.                    WIRE.md SpinLock/force
-- KEYS  1 lock hash
-- 1  it was held; nothing is published | 0  it was free
-- Must not be repeated: the second run could free the lock of the next owner.
local lock = KEYS[1]
if redis.call('hlen', lock) == 0 then -- an error for a key of another type, which is not ours to delete
    return 0
end
redis.call('del', lock)
return 1
