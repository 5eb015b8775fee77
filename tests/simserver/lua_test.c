/* What Lua makes of answers, numbers and errors, and what answers become of Lua's values. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/simserver/support/hunt.h"

#include "tests/sim/server/sha1.h"
#include "tests/support/test.h"

#include <stdio.h>

TestSuite(model_lua);

#define CHOICES(...) ((const char *const[]){__VA_ARGS__, NULL})

static const hunt_blank blanks[] = {
    {'k', CHOICES("a", "b", "c", "d")},
    {'v', CHOICES("1", "abc", "~", "-7", "9007199254740993", "1.5", "1e20", "x y", "\r\n")},
    {0},
};

/* KEYS[1], KEYS[2], ARGV[1], ARGV[2]. */
static const char *const scripts[] = {
    /* values of Lua as answers */
    "return { 1.9, -1.9, 'x', false, true, 3, nil, 4 }",
    "return { 1, { 2, { 3, {} } }, { ok = 'fine' }, { err = 'MY own' } }",
    "return tonumber(ARGV[1])",
    "return { 2^53, -2^53, 2^63, -2^63, 2^70, 0/0, 1/0, -1/0, -0.5 }",
    "return { ok = 'two\\r\\nlines' }",
    "return { err = 'two\\r\\nlines' }",
    "return { err = 'ENDS with a line\\r\\n' }",
    "return { ok = 'ends with a line\\r\\n' }",
    "return { err = 'NOCODE' }",
    "return redis.status_reply('fine')",
    "return redis.error_reply('MY own error')",
    "return redis.error_reply('single')",
    "return redis.error_reply('-WITH dash')",
    "return redis.error_reply(1)",
    "return redis.status_reply()",
    "return redis.sha1hex(ARGV[1])",
    "return nil",
    "return false",
    "return true",
    "return function() end",
    "local t = {} t[1] = 1 t[3] = 3 return t",
    "return { foo = 1 }",
    "return ARGV",
    "return KEYS",
    "return #ARGV",
    "return 'a\\0b'",
    "return",
    "return redis.REDIS_VERSION_NUM ~= nil",
    /* answers as values of Lua */
    "return type(redis.call('get', KEYS[1]))",
    "return type(redis.call('set', KEYS[1], 1).ok)",
    "return { type(redis.call('incr', KEYS[1])) }",
    "return #redis.call('hgetall', KEYS[1])",
    "return #redis.call('lrange', KEYS[1], 0, -1)",
    "return redis.call('lrange', KEYS[1], 0, -1)",
    "return redis.call('mget', KEYS[1], KEYS[2], 'none')",
    "return redis.call('zrange', KEYS[1], 0, -1, 'withscores')",
    "return redis.call('pttl', KEYS[1]) + 0.5",
    "local t = redis.call('time') return { #t, #t[1], type(t[2]) }",
    "return redis.call('type', KEYS[1])",
    "return redis.call('type', KEYS[1]).ok",
    "return { redis.pcall('lpop', KEYS[1]), redis.pcall('hget', KEYS[1], 'f') }",
    "return redis.call('pubsub', 'numsub', 'ch')[2]",
    "return redis.call('pubsub', 'nosuch')",
    "return redis.call('zmscore', KEYS[1], 'f', 'g')",
    "return redis.call('lpos', KEYS[1], ARGV[1])",
    "return redis.call('set', KEYS[1], ARGV[1], 'nx', 'px', 1000)",
    "return redis.call('echo', ARGV[1])",
    "return redis.call('publish', 'ch', ARGV[1])",
    "return redis.call('ping')",
    "return redis.call('select', 1)",
    "redis.call('select', 1) redis.call('set', KEYS[1], 'other') return redis.call('select', 0)",
    /* numbers as words */
    "return redis.call('echo', 1)",
    "return { redis.call('echo', 1.5), redis.call('echo', 0.1), redis.call('echo', -3), redis.call('echo', 1/3) }",
    "return { redis.call('echo', 1e15), redis.call('echo', 123456789012345), redis.call('echo', 2^53), redis.call('echo', 1e17) }",
    "return { redis.call('echo', 1e20), redis.call('echo', 1e-7), redis.call('echo', 123456.789e3), redis.call('echo', 1e300) }",
    "return { redis.call('echo', 1893456000123), redis.call('echo', 922337203685477), redis.call('echo', -0.0) }",
    "return { redis.call('echo', 1/0), redis.call('echo', -1/0), redis.call('echo', 1700000000000), redis.call('echo', 3e9) }",
    "return redis.call('incrby', KEYS[1], 3)",
    "return redis.call('incrby', KEYS[1], 1.5)",
    "return redis.call('hset', KEYS[1], 'f', 10, 'g', 2.5)",
    "return redis.call('zadd', KEYS[1], 1893456000123, 'f', 0.5, 'g')",
    "return redis.call('rpush', KEYS[1], 1, 2.25, 'x')",
    "return redis.call('pexpire', KEYS[1], 30000)",
    "return redis.call('pexpire', KEYS[1], 1e18)",
    "local t = {} for i = 1, 40 do t[i] = i / 4 end return redis.call('rpush', KEYS[1], unpack(t))",
    "local t = {} for i = 1, 500 do t[i] = 'm' .. i end return redis.call('sadd', KEYS[1], unpack(t))",
    /* errors */
    "return redis.call('nosuch', 1)",
    "return redis.pcall('nosuch', 1)",
    "return redis.call('get')",
    "return redis.pcall('get')",
    "return redis.call()",
    "return redis.pcall()",
    "return redis.call(nil)",
    "return redis.call('get', {})",
    "return redis.pcall('get', true)",
    "return redis.call('incr', KEYS[1])",
    "return redis.pcall('incr', KEYS[1])",
    "return redis.pcall('incr', KEYS[1]).err",
    "local a = redis.pcall('hget', KEYS[1], 'f') return type(a) == 'table' and a.err or 'none'",
    "local a = redis.pcall('hget', KEYS[1], 'f') if type(a) == 'table' then error(a.err) end return a",
    "redis.call('set', KEYS[1], 'written') redis.call('lpush', KEYS[1], 'x') return 1",
    "redis.call('set', KEYS[1], 'written') error('thrown')",
    "error('thrown')",
    "error()",
    "error('no place', 0)",
    "local x = nil return x.y",
    "return 1 .. {}",
    "local function f() return redis.call('hset', KEYS[1]) end return f()",
    "\n\nreturn redis.call('lpush', KEYS[1], ARGV[1])",
    "local ok, why = pcall(redis.call, 'lpush', KEYS[1], 'x') return { ok and 1 or 0, ok and why or tostring(why) }",
    "local ok, why = pcall(error, 'thrown', 0) return { ok and 1 or 0, why }",
    "local ok, why = pcall(function() error('thrown') end) return { ok and 1 or 0, why }",
    "return nosuch",
    "return redis.call('eval', 'return 1', 0)",
    "return redis.call('subscribe', 'ch')",
    "return redis.call('multi')",
    "return redis.call('script', 'flush')",
    "return redis.call('client', 'setname', 'x')",
    "return redis.call('auth', 'x')",
    "return redis.call('info', 'nosuch')",
    "return redis.call('set', KEYS[1], ARGV[1], 'px', '0')",
    "return redis.call('HSET', KEYS[1], 'f', ARGV[1])",
    "return tostring(redis.call('zincrby', KEYS[1], 0.1, 'f'))",
    "return redis.call('zadd', KEYS[1], 'incr', 1, 'f')",
    "return string.format('%.0f', 9007199254740993)",
    "return math.floor(-1.5)",
    "return { string.match('c1:1', '^(.*):'), table.concat({ 1, 2 }, ','), tostring(12345678901234), 7 % 3 }",
    NULL,
};

static const hunt_phrase hands[] = {
    {"SET $k $v", 3}, {"SET $k 5 PX 1000", 1}, {"HSET $k f $v", 3}, {"RPUSH $k $v", 3}, {"SADD $k $v", 1}, {"ZADD $k 1.5 f", 3},
    {"DEL $k", 6}, {"SELECT 0", 1}, {"SUBSCRIBE ch", 1}, {"UNSUBSCRIBE ch", 1}, {"EVAL return( 0", 1}, {"EVAL return{} 0", 1},
    {"EVAL return~=1 0", 1}, {"EVAL return{KEYS,ARGV} 2 $k $k $v $v", 3}, {"EVAL return{KEYS,ARGV} 9 $k", 1},
    {"EVAL return{} -1", 1}, {"EVAL return{} x", 1}, {"EVALSHA ABC 0", 1}, {"EVAL return(1)", 1}, {"SCRIPT LOAD return(2)", 1},
    {"SCRIPT LOAD return(", 1}, {"SCRIPT EXISTS x", 1}, {"SCRIPT NOSUCH", 1}, {"SCRIPT LOAD", 1}, {"EVAL return(KEYS[1]) 1 $k", 1},
    {"EVAL x=1 0", 1}, {"EVAL KEYS=nil 0", 1},
};

/* Each of these scripts on keys of any type. */
Test(model_lua, scripts_answer_as_in_a_real_server)
{
    enum { HANDS = sizeof hands / sizeof *hands, SCRIPTS = sizeof scripts / sizeof *scripts - 1 };
    static char words[SCRIPTS][80];
    hunt_phrase phrases[HANDS + SCRIPTS + 1] = {0};
    memcpy(phrases, hands, sizeof hands);
    for (size_t i = 0; i < SCRIPTS; i++) {
        char sha1[41];
        sha1_hex(scripts[i], strlen(scripts[i]), sha1);
        snprintf(words[i], sizeof words[i], "EVALSHA %s 2 $k $k $v $v", sha1);
        phrases[HANDS + i] = (hunt_phrase){words[i], 1};
    }
    hunt_run(&(hunt_plan){.phrases = phrases, .blanks = blanks, .scripts = scripts, .sequences = 100, .steps = 200});
}
