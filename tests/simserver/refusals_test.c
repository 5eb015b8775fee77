/* What a server in trouble refuses, and how: the model in the same trouble answers alike. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/simserver/support/pair.h"

#include "tests/support/event.h"
#include "tests/support/server_parts.h"
#include "tests/support/test.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static server_pair pair;

static void setup(void)
{
    pair_start(&pair, NULL);
    pair_clear(&pair, 1);
}

static void teardown(void)
{
    pair_stop(&pair);
}

TestSuite(model_refusals, .init = setup, .fini = teardown);

/* What is told to the real server alone. */
__attribute__((format(printf, 1, 2))) static void tell_real(const char *format, ...)
{
    char line[300];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    redisReply *reply = server_command(pair.real, line);
    cr_assert(reply->type != REDIS_REPLY_ERROR, "%s: %s", line, reply->str);
    freeReplyObject(reply);
}

static void same(int link, const char *line)
{
    cr_assert(pair_say(&pair, link, line), "%s", pair.difference);
}

/* The same without a look at the listener, which is refused, too. */
static void same_alone(const char *line)
{
    word_list words = words_divide(line);
    cr_assert(pair_ask(&pair, 1, &words), "%s", pair.difference);
    words_free(&words);
}

/* Scripts have no spaces here: words are divided by them. */
static void same_of_all(void)
{
    static const char *const lines[] = {
        "GET string", "SET string 2", "HGET hash f", "HSET hash f 2", "HDEL hash nosuch", "DEL nosuch", "INCR number", "PEXPIRE string 1000",
        "PTTL string", "SADD set x", "SREM set x", "ZADD zset 1 a", "ZREM zset a", "LPUSH list a", "LPOP list", "PUBLISH ch x",
        "PING", "TIME", "ECHO x", "SELECT 0", "WAIT 0 0", "EXISTS string", "TYPE string", "MULTI", "GET string", "SET string 3",
        "EXEC", "MULTI", "GET string", "EXEC", "DISCARD", "SCRIPT EXISTS x", "SUBSCRIBE", "PUBSUB NUMSUB ch", "CLIENT GETNAME",
        "EVAL return(1) 0", "EVAL return(redis.call('get',KEYS[1])) 1 string",
        "EVAL return(redis.call('set',KEYS[1],4)) 1 string", "EVAL return(redis.pcall('set',KEYS[1],4)) 1 string",
        "EVAL return(redis.call('hset',KEYS[1],'f',4)) 1 hash", "EVAL return(redis.call('del',KEYS[1])) 1 nosuch",
        "EVAL redis.call('del','nosuch');return(redis.call('set',KEYS[1],5)) 1 string",
        "EVAL redis.call('set','other',1);return(redis.call('hset','hash','f',6)) 0",
        "EVAL return(redis.call('publish','ch','x')) 0", "EVAL return(redis.call('pexpire',KEYS[1],60000)) 1 string",
        "EVALSHA 0123456789012345678901234567890123456789 0", "FLUSHALL", "GET string",
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        same_alone(lines[i]);
    cr_assert(pair_compare_stored(&pair), "%s", pair.difference);
}

static void fill(void)
{
    same(0, "SET string 1");
    same(0, "SET number 1");
    same(0, "HSET hash f 1");
    same(0, "SUBSCRIBE");
}

/* At maxmemory what may need memory is refused, also to scripts that have not written yet. */
Test(model_refusals, at_maxmemory)
{
    fill();
    tell_real("CONFIG SET maxmemory 1");
    sim_server_fail(pair.model, SIM_OOM);
    same_of_all();
    tell_real("CONFIG SET maxmemory 0");
    sim_server_fail(pair.model, SIM_WELL);
    same(0, "SET string 2");
}

static int64_t now_us(void *world)
{
    return *((server_pair *)world)->clock.now_us;
}

static sim_server *another(void)
{
    return sim_server_make(&(sim_server_settings){.version = pair.version, .hooks = {.world = &pair, .now_us = now_us}});
}

/* A replica refuses writes, and the codes stand within the errors of scripts. */
Test(model_refusals, of_a_replica)
{
    sim_server *master = another();
    fill();
    tell_real("REPLICAOF 127.0.0.1 1");
    sim_server_follow(pair.model, master);
    same_of_all();
    tell_real("REPLICAOF NO ONE");
    sim_server_follow(pair.model, NULL);
    same(0, "SET string 2");
    sim_server_free(master);
}

/* A replica without a master that may not serve what it has. */
Test(model_refusals, of_a_replica_without_its_master)
{
    sim_server *master = another();
    fill();
    tell_real("CONFIG SET replica-serve-stale-data no");
    tell_real("REPLICAOF 127.0.0.1 1");
    sim_server_follow(pair.model, master);
    sim_server_fail(pair.model, SIM_MASTERDOWN);
    static const char *const lines[] = {"GET string", "PUBLISH ch x", "PING", "TIME", "SELECT 0", "EVAL return(1) 0",
                                        "EVAL return(redis.call('get',KEYS[1])) 1 string", "SCRIPT EXISTS x", "SCRIPT LOAD return(1)", "ECHO x", "SET string 1"};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        same_alone(lines[i]);
    tell_real("REPLICAOF NO ONE");
    sim_server_follow(pair.model, NULL);
    sim_server_fail(pair.model, SIM_WELL);
    same(0, "GET string");
    sim_server_free(master);
}

/* A master with fewer replicas than it needs to write. */
Test(model_refusals, without_enough_replicas)
{
    fill();
    tell_real("CONFIG SET min-replicas-to-write 1");
    sim_server_fail(pair.model, SIM_NOREPLICAS);
    same_of_all();
}

static bool save_has_failed(void)
{
    char *info = server_text(pair.real, "INFO persistence");
    bool failed = strstr(info, "rdb_last_bgsave_status:err") != NULL;
    free(info);
    return failed;
}

/* A server that can't save refuses writes. */
Test(model_refusals, when_it_cannot_save)
{
    char path[200];
    fill();
    snprintf(path, sizeof path, "%s/dump.rdb", server_folder(pair.real));
    cr_assert(mkdir(path, 0700) == 0); /* where the file would be */
    freeReplyObject(server_command(pair.real, "CONFIG SET save %s", "3600 1000000"));
    tell_real("BGSAVE");
    while (!save_has_failed()) /* the suite's timeout is the deadline */
        pass_ms(1);
    sim_server_fail(pair.model, SIM_MISCONF);
    same_of_all();
}

/* While a script of somebody else runs for too long, only some commands are answered, until it is killed. */
Test(model_refusals, while_a_script_runs)
{
    fill();
    tell_real("CONFIG SET %s 1", pair.version < SIM_REDIS_7_0 ? "lua-time-limit" : "busy-reply-threshold");
    redisContext *other = server_connect(pair.real);
    redisAppendCommand(other, "EVAL %s 0", "while true do end");
    int done = 0;
    while (!done)
        redisBufferWrite(other, &done);
    for (bool busy = false; !busy;) {
        redisReply *reply = server_command(pair.real, "GET string");
        busy = reply->type == REDIS_REPLY_ERROR;
        freeReplyObject(reply);
    }
    sim_server_fail(pair.model, SIM_BUSY);
    static const char *const lines[] = {"GET string", "SET string 1", "EVAL return(1) 0", "PUBLISH ch x", "TIME", "SELECT 0",
                                        "AUTH x", "MULTI", "GET string", "DISCARD", "CLIENT SETNAME x", "EXISTS string"};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        same_alone(lines[i]);
    same_alone("SCRIPT KILL");
    void *reply;
    cr_assert(redisGetReply(other, &reply) == REDIS_OK); /* it has ended */
    freeReplyObject(reply);
    same_alone("SCRIPT KILL");
    same_alone("GET string");
    redisFree(other);
}

/* What the user may not do: commands, keys, channels; alike within scripts. */
Test(model_refusals, of_what_the_user_may_not)
{
    fill();
    tell_real("ACL SETUSER default -hset -publish");
    sim_server_deny(pair.model, SIM_COMMAND, "[hp][su][eb]*");
    same(0, "HSET hash f 1");
    same(0, "EVAL return(redis.call('hset',KEYS[1],'f',4)) 1 hash");
    same(0, "EVAL return(redis.pcall('publish','ch','x')) 0");
    same(0, "PUBLISH ch x");
    same(0, "GET string");
    tell_real("ACL SETUSER default +@all resetkeys ~[^s]*");
    sim_server_deny(pair.model, SIM_COMMAND, NULL);
    sim_server_deny(pair.model, SIM_KEY, "s*");
    same(0, "GET string");
    same(0, "GET number");
    same(0, "EXISTS number string");
    same(0, "EVAL return(redis.call('get',KEYS[1])) 1 string");
    same(0, "EVAL return(redis.call('get','string')) 0");
    same(0, "EVAL return(redis.pcall('get','string').err) 0");
    tell_real("ACL SETUSER default ~* resetchannels &[^s]*");
    sim_server_deny(pair.model, SIM_KEY, NULL);
    sim_server_deny(pair.model, SIM_CHANNEL, "s*");
    same(0, "PUBLISH ch x");
    same(0, "PUBLISH secret x");
    same(PAIR_LISTENER, "SUBSCRIBE secret");
    same(PAIR_LISTENER, "SUBSCRIBE ch");
    same(PAIR_LISTENER, "UNSUBSCRIBE secret");
    same(0, "EVAL return(redis.call('publish','secret','x')) 0");
}

/* A password that must be given first, right or wrong. */
Test(model_refusals, before_the_password)
{
    sim_server *model = sim_server_make(&(sim_server_settings){
        .version = pair.version, .password = "hidden", .hooks = {.world = &pair, .now_us = now_us}});
    tell_real("CONFIG SET requirepass hidden");
    redisFree(pair.links[0]);
    pair.links[0] = redisConnectUnix(server_socket(pair.real));
    sim_link_close(pair.model_links[0]);
    pair.model_links[0] = sim_link_open(model, NULL);
    const char *const lines[] = {"GET string", "PING", "NOSUCH", "GET", "EVAL return(1) 0", "AUTH wrong", "AUTH default wrong",
                                 "AUTH nobody hidden", "AUTH a b c", "PING", "AUTH hidden", "PING", "AUTH default hidden", "AUTH wrong", "PING"};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        /* The listeners are not asked: theirs have no password. */
        word_list words = words_divide(lines[i]);
        cr_assert(pair_ask(&pair, 0, &words), "%s", pair.difference);
        words_free(&words);
    }
    sim_server_free(model);
    pair.model_links[0] = sim_link_open(pair.model, NULL);
}
