/* Scripts of the actors. Each stands by its row of the wire contract; what Redisson does there and would harm others is
 * said beside it, and not done. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/actors/scripts.h"

#include "tests/sim/server/sha1.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* What each script begins with. */
#define CALL "local call = redis.call\n"

/* --- RLock, SpinLock, FencedLock ---
 * KEYS: lock; ARGV: owner, lease ms, and what is said beside it. */

#define LOCK_IS_OURS "(call('exists', KEYS[1]) == 0 or call('hexists', KEYS[1], ARGV[1]) == 1)"
#define TAKE "call('hincrby', KEYS[1], ARGV[1], 1)\ncall('pexpire', KEYS[1], ARGV[2])\n"

/* One answer for one request, however often it is sent: KEYS[2] keeps it for a while. `answer` is the script's. */
#define ANSWERED_BEFORE                                                                                                   \
    "local before = call('get', KEYS[2])\n"                                                                               \
    "if before then return before ~= 'none' and tonumber(before) or nil end\n"
#define KEEP_ANSWER "call('set', KEYS[2], answer or 'none', 'px', 30000)\nreturn answer\n"

/* ARGV: channel, message. */
#define RELEASE(publish)                                                                                                  \
    CALL ANSWERED_BEFORE "local answer\n"                                                                                 \
    "if call('hexists', KEYS[1], ARGV[1]) == 1 then\n"                                                                    \
    "  if call('hincrby', KEYS[1], ARGV[1], -1) > 0 then\n"                                                               \
    "    call('pexpire', KEYS[1], ARGV[2])\n    answer = 0\n"                                                             \
    "  else\n    call('del', KEYS[1])\n" publish "    answer = 1\n  end\nend\n" KEEP_ANSWER
#define PUBLISH "    call('publish', ARGV[3], '0')\n"

/* --- FairLock: KEYS: lock, queue, timeouts (in a release after the latch); ARGV: owner, lease ms, wait ms, now ms --- */

/* Binds queue and timeouts; the heads whose time is up go. */
#define FAIR(first, now)                                                                                                  \
    CALL "local queue, timeouts = KEYS[" #first "], KEYS[" #first " + 1]\n"                                               \
    "local function head() return call('lindex', queue, 0) or nil end\n"                                                         \
    "for stale in head do\n"                                                                                              \
    "  local score = tonumber(call('zscore', timeouts, stale) or nil)\n"                                                  \
    "  if not score or score > tonumber(ARGV[" #now "]) then break end\n"                                                 \
    "  call('lpop', queue)\n  call('zrem', timeouts, stale)\nend\n"
#define FAIR_TAKE(moved)                                                                                                  \
    "local first = head()\n"                                                                                              \
    "if call('exists', KEYS[1]) == 0 and (not first or first == ARGV[1]) then\n"                                          \
    "  if first then call('lpop', queue) end\n"                                                                           \
    "  call('zrem', timeouts, ARGV[1])\n" moved "  " TAKE "  return nil\nend\n"                                           \
    "if call('hexists', KEYS[1], ARGV[1]) == 1 then\n  " TAKE "  return nil\nend\n"
#define MOVE_UP "  for _, one in ipairs(call('zrange', timeouts, 0, -1)) do call('zincrby', timeouts, -tonumber(ARGV[3]), one) end\n"
/* ARGV[3]: the lock's channel; each waiter has one of its own behind it. */
#define CALL_HEAD "local first = head()\nif first then call('publish', ARGV[3] .. ':' .. first, '0') end\n"

/* --- ReadWriteLock: KEYS: lock; ARGV: owner, lease ms, channel, what its holds' keys begin with ("{r}:") --- */

#define RW                                                                                                                \
    CALL "local mode = call('hget', KEYS[1], 'mode')\nlocal writer = ARGV[1] .. ':write'\nlocal lease = tonumber(ARGV[2])\n" \
    "local function key(owner, n) return ARGV[4] .. owner .. ':rwlock_timeout:' .. n end\n"                               \
    "local function lengthen(ms) if call('pttl', KEYS[1]) < ms then call('pexpire', KEYS[1], ms) end end\n"
/* Of all read holds; and whether anybody is left at all. */
#define RW_LONGEST                                                                                                        \
    "local longest, left = 0, false\n"                                                                                    \
    "for _, owner in ipairs(call('hkeys', KEYS[1])) do\n"                                                                 \
    "  if owner ~= 'mode' then\n    left = true\n"                                                                        \
    "    if not string.find(owner, ':write$') then\n"                                                                     \
    "      for n = 1, math.min(tonumber(call('hget', KEYS[1], owner)) or 0, 1000) do\n"                                   \
    "        longest = math.max(longest, call('pttl', key(owner, n)))\n      end\n    end\n  end\nend\n"

/* --- permits: KEYS: counter, zset; ARGV: channel, now ms, … --- */

#define TAKE_BACK(most)                                                                                                   \
    "local over = call('zrangebyscore', KEYS[2], 0, ARGV[2], 'limit', 0, " most ")\n"                                     \
    "if #over > 0 then\n"                                                                                                 \
    "  for _, id in ipairs(over) do call('zrem', KEYS[2], id) end\n"                                                      \
    "  local value = call('incrby', KEYS[1], #over)\n"                                                                    \
    "  if value > 0 then call('publish', ARGV[1], value) end\nend\n"

/* As python-redis-lock leaves an element for who waits longest. */
#define SIGNAL "local list = KEYS[#KEYS]\ncall('del', list)\ncall('lpush', list, '1')\ncall('pexpire', list, 1000)\n"

static const struct {
    const char *name, *text;
} all[SCRIPTS] = {
    /* As programs do that know of no waiters: nothing is published. */
    [TOKEN_ACQUIRE] = {"foreign/acquire", CALL "if call('set', KEYS[1], ARGV[1], 'px', ARGV[2], 'nx') then return nil end\n"
                       "return call('pttl', KEYS[1])\n"},
    [TOKEN_RELEASE] = {"foreign/release", CALL "if call('get', KEYS[1]) == ARGV[1] then return call('del', KEYS[1]) end\n"
                       "return nil\n"},
    [TOKEN_FORCE] = {"foreign/force", CALL "return call('del', KEYS[1])\n"},
    [TOKEN_RENEW] = {"foreign/renew", CALL "if call('get', KEYS[1]) ~= ARGV[1] then return 0 end\n"
                     "return call('pexpire', KEYS[1], ARGV[2])\n"},
    [SIGNAL_RELEASE] = {"signal/release", CALL "if call('get', KEYS[1]) ~= ARGV[1] then return nil end\n" SIGNAL
                        "return call('del', KEYS[1])\n"},
    [SIGNAL_FORCE] = {"signal/force", CALL SIGNAL "return call('del', KEYS[1])\n"},
    [LOCK_ACQUIRE] = {"lock/acquire", CALL "if " LOCK_IS_OURS " then\n" TAKE "return nil\nend\nreturn call('pttl', KEYS[1])\n"},
    [FENCED_ACQUIRE] = {"fenced/acquire", CALL "if " LOCK_IS_OURS " then\n" TAKE
                        "return { call('incr', KEYS[2]) }\nend\nreturn call('pttl', KEYS[1])\n"},
    [LOCK_RELEASE] = {"lock/release", RELEASE(PUBLISH)},
    [SPIN_RELEASE] = {"spin/release", RELEASE("")},
    [LOCK_FORCE] = {"lock/force", CALL "if call('del', KEYS[1]) == 0 then return 0 end\n"
                    "call('publish', ARGV[3], '0')\nreturn 1\n"},
    [LOCK_RENEW] = {"lock/renew", CALL "if call('hexists', KEYS[1], ARGV[1]) == 0 then return 0 end\n"
                    "return call('pexpire', KEYS[1], ARGV[2])\n"},
    [FAIR_ACQUIRE] = {"fair/acquire", FAIR(2, 4) FAIR_TAKE(MOVE_UP)
                      "local left = math.max(0, call('pttl', KEYS[1]))\n"
                      "if call('zscore', timeouts, ARGV[1]) then return left end\n"
                      "local last = call('lindex', queue, -1)\n"
                      "local score = last and last ~= ARGV[1] and tonumber(call('zscore', timeouts, last) or nil)\n"
                      "if score then left = math.max(0, score - tonumber(ARGV[4])) end\n"
                      "call('zadd', timeouts, string.format('%.0f', left + ARGV[3] + ARGV[4]), ARGV[1])\n"
                      "local queued = false\n"
                      "for _, one in ipairs(call('lrange', queue, 0, -1)) do queued = queued or one == ARGV[1] end\n"
                      "if not queued then call('rpush', queue, ARGV[1]) end\nreturn left\n"},
    [FAIR_TRY] = {"fair/try", FAIR(2, 4) FAIR_TAKE(MOVE_UP) "return 1\n"},
    [FAIR_GIVE_UP] = {"fair/give_up", CALL "local behind = false\n"
                      "for _, one in ipairs(call('lrange', KEYS[2], 0, -1)) do\n"
                      "  if behind and call('zscore', KEYS[3], one) then call('zincrby', KEYS[3], -tonumber(ARGV[3]), one) end\n"
                      "  behind = behind or one == ARGV[1]\nend\n"
                      "call('zrem', KEYS[3], ARGV[1])\nreturn call('lrem', KEYS[2], 0, ARGV[1])\n"},
    [FAIR_RELEASE] = {"fair/release", FAIR(3, 4) ANSWERED_BEFORE "local answer\n"
                      "if call('exists', KEYS[1]) == 0 then\n  " CALL_HEAD "  answer = 1\n"
                      "elseif call('hexists', KEYS[1], ARGV[1]) == 1 then\n"
                      "  if call('hincrby', KEYS[1], ARGV[1], -1) > 0 then\n"
                      "    call('pexpire', KEYS[1], ARGV[2])\n    answer = 0\n"
                      "  else\n    call('del', KEYS[1])\n    " CALL_HEAD "    answer = 1\n  end\nend\n" KEEP_ANSWER},
    [FAIR_FORCE] = {"fair/force", FAIR(2, 4) "if call('del', KEYS[1]) == 0 then return 0 end\n" CALL_HEAD "return 1\n"},
    [READ_ACQUIRE] = {"read/acquire", RW "if mode == 'read' or not mode or call('hexists', KEYS[1], writer) == 1 then\n"
                      "  if not mode then call('hset', KEYS[1], 'mode', 'read') end\n"
                      "  local n = call('hincrby', KEYS[1], ARGV[1], 1)\n"
                      "  call('set', key(ARGV[1], n), 1, 'px', lease)\n  lengthen(lease)\n  return nil\nend\n"
                      "return call('pttl', KEYS[1])\n"},
    /* Redisson lowers the time of a write hold to that of its reads. */
    [READ_RELEASE] = {"read/release", RW ANSWERED_BEFORE "local answer\n"
                      "if not mode then\n  call('publish', ARGV[3], '0')\n"
                      "elseif call('hexists', KEYS[1], ARGV[1]) == 1 then\n"
                      "  local n = call('hincrby', KEYS[1], ARGV[1], -1)\n"
                      "  if n == 0 then call('hdel', KEYS[1], ARGV[1]) end\n"
                      "  call('del', key(ARGV[1], n + 1))\n" RW_LONGEST
                      "  if left and longest > 0 then\n"
                      "    if mode == 'read' then call('pexpire', KEYS[1], longest) else lengthen(longest) end\n"
                      "    answer = 0\n"
                      "  elseif left and mode == 'write' then\n    answer = 0\n"
                      "  else\n    call('del', KEYS[1])\n    call('publish', ARGV[3], '0')\n    answer = 1\n  end\nend\n"
                      KEEP_ANSWER},
    [READ_FORCE] = {"read/force", RW "if mode ~= 'read' then return 0 end\n"
                    "call('del', KEYS[1])\ncall('publish', ARGV[3], '0')\nreturn 1\n"},
    /* Redisson lowers the time of others' longer holds to the renewed one. */
    [READ_RENEW] = {"read/renew", RW "local count = tonumber(call('hget', KEYS[1], ARGV[1]) or nil)\n"
                    "if not count then return 0 end\n"
                    "for n = 1, count do\n  if call('pttl', key(ARGV[1], n)) < lease then call('pexpire', key(ARGV[1], n), lease) end\nend\n"
                    "lengthen(lease)\nreturn 1\n"},
    [WRITE_ACQUIRE] = {"write/acquire", RW "if not mode then\n  call('hset', KEYS[1], 'mode', 'write', writer, 1)\n"
                       "  call('pexpire', KEYS[1], lease)\n  return nil\nend\n"
                       "if mode == 'write' and call('hexists', KEYS[1], writer) == 1 then\n"
                       "  call('hincrby', KEYS[1], writer, 1)\n  call('pexpire', KEYS[1], call('pttl', KEYS[1]) + lease)\n"
                       "  return nil\nend\nreturn call('pttl', KEYS[1])\n"},
    [WRITE_RELEASE] = {"write/release", RW ANSWERED_BEFORE "local answer\n"
                       "if not mode then\n  call('publish', ARGV[3], '1')\n"
                       "elseif mode == 'write' and call('hexists', KEYS[1], writer) == 1 then\n"
                       "  if call('hincrby', KEYS[1], writer, -1) > 0 then\n"
                       "    call('pexpire', KEYS[1], lease)\n    answer = 0\n"
                       "  else\n    call('hdel', KEYS[1], writer)\n"
                       "    if call('hlen', KEYS[1]) == 1 then\n"
                       "      call('del', KEYS[1])\n      call('publish', ARGV[3], '1')\n"
                       "    else\n      call('hset', KEYS[1], 'mode', 'read')\n    end\n    answer = 1\n  end\nend\n" KEEP_ANSWER},
    [WRITE_FORCE] = {"write/force", RW "if mode ~= 'write' then return 0 end\n"
                     "call('del', KEYS[1])\ncall('publish', ARGV[3], '1')\nreturn 1\n"},
    [WRITE_RENEW] = {"write/renew", RW "if call('hexists', KEYS[1], writer) == 0 then return 0 end\nlengthen(lease)\nreturn 1\n"},
    /* KEYS: counter; ARGV: channel, count */
    [SCRIPT_SEM_SET] = {"semaphore/set", CALL "if call('exists', KEYS[1]) == 1 then return 0 end\n"
                        "call('set', KEYS[1], ARGV[2])\ncall('publish', ARGV[1], ARGV[2])\nreturn 1\n"},
    [SCRIPT_SEM_ACQUIRE] = {"semaphore/acquire", CALL "local value = tonumber(call('get', KEYS[1]) or nil)\n"
                            "if not value or value < tonumber(ARGV[2]) then return 0 end\n"
                            "call('decrby', KEYS[1], ARGV[2])\nreturn 1\n"},
    [SCRIPT_SEM_RELEASE] = {"semaphore/release", CALL "call('publish', ARGV[1], call('incrby', KEYS[1], ARGV[2]))\nreturn 1\n"},
    [SCRIPT_SEM_ADD] = {"semaphore/add", CALL "local value = (tonumber(call('get', KEYS[1]) or nil) or 0) + ARGV[2]\n"
                        "call('set', KEYS[1], value)\ncall('publish', ARGV[1], value)\nreturn 1\n"},
    [SCRIPT_SEM_DRAIN] = {"semaphore/drain", CALL "local value = call('get', KEYS[1])\nif not value then return 0 end\n"
                          "call('set', KEYS[1], 0)\nreturn tonumber(value)\n"},
    /* KEYS: counter, zset; ARGV: channel, now ms, … */
    [SCRIPT_PERMIT_SET] = {"permits/set", CALL "if call('exists', KEYS[1]) == 1 then return 0 end\n"
                           "call('set', KEYS[1], ARGV[3])\ncall('publish', ARGV[1], ARGV[3])\nreturn 1\n"},
    /* …expiry ms, ids */
    [SCRIPT_PERMIT_ACQUIRE] = {"permits/acquire", CALL "local wanted = #ARGV - 3\n" TAKE_BACK("wanted")
                               "local value = tonumber(call('get', KEYS[1]) or nil)\n"
                               "if value and value >= wanted then\n  call('decrby', KEYS[1], wanted)\n"
                               "  for i = 4, #ARGV do call('zadd', KEYS[2], ARGV[3], ARGV[i]) end\n"
                               "  local left = call('pttl', KEYS[1])\n"
                               "  if left > 0 then call('pexpire', KEYS[2], left) end\n  return { wanted }\nend\n"
                               "local nearest = call('zrange', KEYS[2], 0, 0, 'withscores')[2]\n"
                               "if not nearest or nearest == '922337203685477' then return -1 end\n"
                               "return math.max(0, nearest - ARGV[2])\n"},
    /* …id */
    [SCRIPT_PERMIT_RELEASE] = {"permits/release", CALL "local expiry = call('zscore', KEYS[2], ARGV[3])\n"
                               "if not expiry then return 0 end\ncall('zrem', KEYS[2], ARGV[3])\n"
                               "call('publish', ARGV[1], call('incrby', KEYS[1], 1))\n"
                               "return tonumber(expiry) > tonumber(ARGV[2]) and 1 or 0\n"},
    /* …expiry ms, id */
    [SCRIPT_PERMIT_UPDATE] = {"permits/update", CALL TAKE_BACK("-1") "if not call('zscore', KEYS[2], ARGV[4]) then return 0 end\n"
                              "call('zadd', KEYS[2], ARGV[3], ARGV[4])\nreturn 1\n"},
    [SCRIPT_PERMIT_STATE] = {"permits/available", CALL TAKE_BACK("-1") "return tonumber(call('get', KEYS[1]) or 0)\n"},
    /* KEYS: counter; ARGV: channel, count */
    [SCRIPT_LATCH_SET] = {"latch/set", CALL "if call('exists', KEYS[1]) == 1 then return 0 end\n"
                          "call('set', KEYS[1], ARGV[2])\ncall('publish', ARGV[1], '1')\nreturn 1\n"},
    [SCRIPT_LATCH_DOWN] = {"latch/down", CALL "local value = call('decr', KEYS[1])\nif value <= 0 then call('del', KEYS[1]) end\n"
                           "if value == 0 then call('publish', ARGV[1], '0') end\nreturn value\n"},
};

const char *script_text(script of)
{
    return all[of].text;
}

const char *actor_script_name(const char *sha1)
{
    static char digits[SCRIPTS][41];
    if (!digits[0][0]) {
        for (int i = 0; i < SCRIPTS; i++)
            sha1_hex(all[i].text, strlen(all[i].text), digits[i]);
    }
    for (int i = 0; i < SCRIPTS; i++) {
        if (strcmp(digits[i], sha1) == 0)
            return all[i].name;
    }
    return NULL;
}
