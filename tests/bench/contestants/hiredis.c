/* The lock that a program writes itself with hiredis: SET NX PX, polled while another has it, and a script that deletes
 * the key if it still holds the token; one connection a thread. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/contestants/support/link.h"
#include "tests/bench/contestants/support/player.h"
#include "tests/bench/contestants/support/poll_pause.h"
#include "tests/bench/contestants/support/trouble.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LEASE_MS "30000" /* as long as Redisson's; nothing renews it */

static const char release[] =
    "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) end return 0";

typedef struct plain_seat {
    redisContext *context;
    char name[256], token[64];
    unsigned long turn; /* makes each token another one */
    unsigned random;
} plain_seat;

static char server[512]; /* its URL */
static char sha[64];     /* of the script */

static bool open_server(const char *url)
{
    snprintf(server, sizeof server, "%s", url);
    redisContext *context = link_open(url, "control");
    redisReply *reply = context ? redisCommand(context, "SCRIPT LOAD %s", release) : NULL;
    bool right = reply && reply->type == REDIS_REPLY_STRING;
    if (right)
        snprintf(sha, sizeof sha, "%s", reply->str);
    else
        trouble("SCRIPT LOAD was refused");
    freeReplyObject(reply);
    if (context)
        redisFree(context);
    return right;
}

static bool failed(const plain_seat *seat, const redisReply *reply, const char *what)
{
    return trouble("%s: %s", what, reply && reply->type == REDIS_REPLY_ERROR ? reply->str : seat->context->errstr);
}

static bool take(void *own)
{
    plain_seat *seat = own;
    snprintf(seat->token, sizeof seat->token, "%d:%p:%lu", (int)getpid(), own, seat->turn++);
    const char *words[] = {"SET", seat->name, seat->token, "NX", "PX", LEASE_MS};
    for (;;) {
        redisReply *reply = redisCommandArgv(seat->context, 6, words, NULL);
        bool granted = reply && reply->type == REDIS_REPLY_STATUS, refused = reply && reply->type == REDIS_REPLY_NIL;
        if (!granted && !refused)
            failed(seat, reply, "SET");
        freeReplyObject(reply);
        if (!refused)
            return granted;
        poll_pause(&seat->random);
    }
}

static bool give(void *own)
{
    plain_seat *seat = own;
    const char *words[] = {"EVALSHA", sha, "1", seat->name, seat->token};
    redisReply *reply = redisCommandArgv(seat->context, 5, words, NULL);
    bool right = reply && reply->type == REDIS_REPLY_INTEGER && reply->integer == 1;
    if (!right)
        failed(seat, reply, "release");
    freeReplyObject(reply);
    return right;
}

static void leave(void *own)
{
    plain_seat *seat = own;
    if (seat->context)
        redisFree(seat->context);
    free(seat);
}

static void *join(const char *kind, const char *name)
{
    char named[32];
    if (strcmp(kind, "lock") != 0) {
        trouble("plain hiredis has no kind %s", kind);
        return NULL;
    }
    plain_seat *seat = calloc(1, sizeof *seat);
    if (!seat)
        abort();
    snprintf(named, sizeof named, "hiredis-%d", (int)getpid());
    snprintf(seat->name, sizeof seat->name, "%s", name);
    seat->random = poll_pause_seed();
    if ((seat->context = link_open(server, named)))
        return seat;
    leave(seat);
    return NULL;
}

static void close_server(void)
{
}

int main(void)
{
    static const bench_player plain_player = {open_server, join, take, give, leave, close_server};
    return player_run(&plain_player);
}
