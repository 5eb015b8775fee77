-- inspect/look: read what is stored under a name, whichever kind of object it is.
-- docs/internals/wire.md, Inspection
-- KEYS  1 NAME
--       2 queue of fair waiters
--       3 timeouts of fair waiters
--       4 timeouts of permits
--       5 token counter
--       The script also reads the timeout keys of read holds, <prefix><owner>:rwlock_timeout:<n>, in NAME's slot.
-- ARGV  1 prefix of those timeout keys
-- Answers a list of seven:
--   1  PTTL of NAME, ms; -1: no expiry, -2: no such key
--   2  mode of a read-write lock (read or write); group for a group lock; else nil
--   3  { owner, count, side, ms left, ... } the holders; side: read, write, token, the number of values of the group that
--      the owner holds, or '' for other locks
--   4  { owner, ms left, ... } the fair waiters, in the order of the queue
--   5  last fencing token, or nil
--   6  permits available, or the latch's count; nil for an object that is neither semaphore nor latch
--   7  { id, ms left, ... } permits that are taken; nil if none was ever taken
--   ms left is by the server's clock; 0: expired, -1: no expiry.
--   An error that begins with WRONGTYPE if NAME is a key that none of the objects has. Other keys of an
--   unexpected type belong to another program and are ignored.
-- Publishes nothing.
-- Repeatable: it changes nothing.
local name, queue, timeouts, permits, token, prefix = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], ARGV[1]
local VALUE_END = '^' .. string.rep('.', 22) .. ':%x+%-%x+%-%x+%-%x+%-%x+:%-?%d+:expire_time$'
local NO_END, LEVELS_MAX, TOKEN_MAX = 922337203685477, 10000, 1024
local budget = 100000 -- the number of levels of read holds that are looked at in all

local function is(key, expected)
    return redis.call('type', key).ok == expected
end

local function number(key) -- that a counter may have
    local value = is(key, 'string') and redis.call('strlen', key) <= 20 and redis.call('get', key) or ''
    local digits = string.match(value, '^-?(%d+)$') or ''
    local fits = #digits < 19 or #digits == 19 and digits <= '9223372036854775807'
    return digits ~= '' and fits and value
end

local time = redis.call('time')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local function left(score)
    local at = tonumber(score or NO_END)
    return at >= NO_END and -1 or math.max(0, math.floor(at - now))
end

-- The fields of the hash. Another program's may have millions, and the server does nothing else while it lists them: a few
-- of many show whose hash it is, and then the first that no lock has is the answer.
local function fields_of_hash()
    local some = redis.call('hlen', name) > 1000 and redis.pcall('hrandfield', name, '16') or {} -- or an error
    for _, field in ipairs(some) do
        local of_a_lock = field == 'mode' or #field == 22 -- the value of a group
        if not of_a_lock and not string.find(field, '%x+%-%x+%-%x+%-%x+%-%x+:%-?%d') then
            return { field, '1' }
        end
    end
    return redis.call('hgetall', name)
end

-- The holders of a group's values, or nil if the fields are not those of a group lock.
local function holders_of_values(fields)
    local at, values, owners, held, grouped = {}, {}, {}, {}, false
    for i = 1, #fields, 2 do
        at[fields[i]] = fields[i + 1]
        if string.find(fields[i], ':', 1, true) then
            grouped = grouped or string.find(fields[i], VALUE_END)
        else
            table.insert(values, fields[i])
        end
    end
    if not grouped then
        return nil
    end
    for _, value in ipairs(values) do
        local owner = at[value]
        local end_ms = tonumber(at[value .. ':' .. owner .. ':expire_time'] or '') or 0
        local count = string.match(at[value .. ':' .. owner .. ':lock_count'] or '', '^%d+$') and
            tonumber(at[value .. ':' .. owner .. ':lock_count']) or 1
        if end_ms > now then
            if not held[owner] then
                table.insert(owners, owner)
            end
            local one = held[owner] or { count = 0, left = 0, values = 0 }
            one.count, one.left = math.max(one.count, count), math.max(one.left, left(end_ms))
            one.values = one.values + 1
            held[owner] = one
        end
    end
    local all = {}
    for _, owner in ipairs(owners) do
        local one = held[owner]
        local count = string.format('%.0f', math.min(one.count, 2147483647))
        for _, part in ipairs({ owner, count, string.format('%d', one.values), one.left }) do table.insert(all, part) end
    end
    return all
end

local pttl, mode, holders, counter = redis.call('pttl', name), false, {}, number(name)
if is(name, 'hash') then
    mode = redis.call('hget', name, 'mode')
    mode = (mode == 'read' or mode == 'write') and mode
    local fields = fields_of_hash()
    local grouped = not mode and holders_of_values(fields)
    if grouped then
        mode, holders, fields = 'group', grouped, {}
    end
    for i = 1, #fields, 2 do
        local owner, count = fields[i], fields[i + 1]
        local writer = mode and string.match(owner, '^(.*):write$')
        if writer then
            for _, part in ipairs({ writer, count, 'write', pttl }) do table.insert(holders, part) end
        elseif not mode then
            for _, part in ipairs({ owner, count, '', pttl }) do table.insert(holders, part) end
        elseif owner ~= 'mode' then
            local longest, levels = -2, string.match(count, '^%d%d?%d?%d?%d?%d?%d?%d?%d?$') and tonumber(count) or 0
            local looked_at = math.min(levels, LEVELS_MAX)
            budget = budget - looked_at
            if budget < 0 then -- as long as the lock stands, at most
                looked_at, longest = 0, pttl
            end
            for n = levels - looked_at + 1, levels do
                local level = redis.call('pttl', prefix .. owner .. ':rwlock_timeout:' .. n)
                longest = (level == -1 or longest == -1) and -1 or math.max(longest, level)
            end
            longest = longest == -2 and 0 or longest
            for _, part in ipairs({ owner, count, 'read', longest }) do table.insert(holders, part) end
        end
    end
elseif is(name, 'string') and not counter and redis.call('strlen', name) <= TOKEN_MAX then
    holders = { redis.call('get', name), '1', 'token', pttl }
elseif pttl ~= -2 and not counter then
    return redis.error_reply('WRONGTYPE neither a lock nor a number but a ' ..
        (is(name, 'string') and 'long ' or '') .. redis.call('type', name).ok)
end

local waiters = {}
if is(queue, 'list') then
    local scored = is(timeouts, 'zset')
    for _, owner in ipairs(redis.call('lrange', queue, 0, -1)) do
        table.insert(waiters, owner)
        table.insert(waiters, left(scored and redis.call('zscore', timeouts, owner) or NO_END))
    end
end

local out = false
if mode == false and #holders == 0 and is(permits, 'zset') then
    local over, ids = 0, redis.call('zrange', permits, 0, -1, 'withscores')
    out = {}
    for i = 1, #ids, 2 do
        local remaining = left(ids[i + 1])
        if remaining == 0 then
            over = over + 1
        else
            table.insert(out, ids[i])
            table.insert(out, remaining)
        end
    end
    counter = string.format('%.0f', (tonumber(counter) or 0) + over)
end
return { pttl, mode, holders, waiters, number(token), counter, out }
