-- inspect/lock: what stands under a lock's name.
-- KEYS  1 lock hash
-- { PTTL (-2: free), holder, count, holder, count, … }
-- Changes nothing. A key of another type is refused as Redis refuses it.
local lock = KEYS[1]
local answer = redis.call('hgetall', lock)
table.insert(answer, 1, redis.call('pttl', lock))
return answer
