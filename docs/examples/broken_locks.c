/* docs/broken-locks.md's examples: locks that look right, and the order of events that breaks each of them. Plain hiredis; the
 * clients A, B and C are three processes in the text and one here, so that the order is always the same. */
#include <hiredis/hiredis.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static redisContext *redis;

/* Runs a command; an integer, 1 for OK, 0 for nothing. */
static long long run(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    redisReply *reply = redisvCommand(redis, format, arguments);
    va_end(arguments);
    long long answer = !reply || reply->type == REDIS_REPLY_NIL ? 0
                       : reply->type == REDIS_REPLY_INTEGER     ? reply->integer
                                                                : 1;
    freeReplyObject(reply);
    return answer;
}

static int is_value(const char *expected)
{
    redisReply *reply = redisCommand(redis, "GET lock");
    int is = reply && reply->type == REDIS_REPLY_STRING && strcmp(reply->str, expected) == 0;
    freeReplyObject(reply);
    return is;
}

/* A's lease ends: time passes, or A stands still for that long. */
static void await_end(void)
{
    while (run("EXISTS lock"))
        continue;
}

static void incr_then_expire(void)
{
    puts("INCR, then EXPIRE");
    if (run("INCR lock") == 1)
        puts("  A holds the lock, and dies before it sends EXPIRE");
    if (run("INCR lock") != 1)
        puts("  B does not get it");
    if (run("PTTL lock") == -1)
        puts("  nobody ever will: it has no time to live");
    run("DEL lock");
}

static void setnx_without_ttl(void)
{
    puts("SETNX without a time to live");
    if (run("SETNX lock A"))
        puts("  A holds the lock, and dies");
    if (!run("SETNX lock B") && run("PTTL lock") == -1)
        puts("  B waits for ever");
    run("DEL lock");
}

static void del_without_owner(void)
{
    puts("DEL without a look at the owner");
    if (run("SET lock A NX PX 20"))
        puts("  A holds the lock, and its lease ends while it works");
    await_end();
    if (run("SET lock B NX PX 60000"))
        puts("  B holds the lock");
    if (run("DEL lock"))
        puts("  A is done, and deletes the lock: that of B");
    if (run("SET lock C NX PX 60000"))
        puts("  C holds the lock, and so does B");
    run("DEL lock");
}

static void get_then_del(void)
{
    puts("GET, then DEL");
    if (run("SET lock A NX PX 60000") && is_value("A"))
        puts("  A is done, and sees that the lock is still its own");
    run("PEXPIRE lock 1"); /* stands for the minute that passes */
    await_end();
    if (run("SET lock B NX PX 60000"))
        puts("  its lease ends at that moment, and B holds the lock");
    if (run("DEL lock"))
        puts("  A deletes the lock: that of B");
    if (run("SET lock C NX PX 60000"))
        puts("  C holds the lock, and so does B");
    run("DEL lock");
}

/* Nobody has to sleep to see it. */
static void back_off_past_deadline(void)
{
    const int deadline_ms = 1000, free_from_ms = 800, free_to_ms = 1400;
    int now_ms = 0, got = 0;
    puts("a back-off that doubles, and does not look at the deadline");
    for (int pause_ms = 50; now_ms <= deadline_ms && !got; pause_ms *= 2) {
        got = now_ms >= free_from_ms && now_ms <= free_to_ms;
        now_ms += got ? 0 : pause_ms;
    }
    if (!got)
        printf("  the lock was free from %d to %d ms; the caller had time until %d ms, slept until %d ms, and gave up\n",
               free_from_ms, free_to_ms, deadline_ms, now_ms);
}

int main(int argc, char **argv)
{
    const char *port = argc > 1 ? strrchr(argv[1], ':') : NULL;
    redis = redisConnect("127.0.0.1", port ? atoi(port + 1) : 6379);
    if (!redis || redis->err)
        return fprintf(stderr, "%s\n", redis ? redis->errstr : "out of memory"), 1;
    run("DEL lock");
    incr_then_expire();
    setnx_without_ttl();
    del_without_owner();
    get_then_del();
    back_off_past_deadline();
    redisFree(redis);
    return 0;
}
