-- signal/pass_on: signal to another waiter, because a waiter took the element of the list, or may have taken it, and
-- does not use it.
-- docs/internals/wire.md, SignalLock/pass_on
-- KEYS  1 the lock
--       2 the signal list
-- Answers:
--   1  signalled
--   0  the lock is held, so that its release will signal; or an element stands in the list
-- Publishes nothing.
-- Repeatable: an element too many wakes a waiter that finds the lock held, and waits on.
--@include signal/signal.inc
local lock, list = KEYS[1], KEYS[2]
if redis.call('exists', lock) == 1 or redis.call('exists', list) == 1 then
    return 0
end
signal(list)
return 1
