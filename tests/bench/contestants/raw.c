/* Plain hiredis as a contestant: a straightforward program with one connection a thread, that sends word for
 * word what the library sends for a turn, and waits for each answer. It never waits for a lock. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/contestants/support/kinds.h"
#include "tests/bench/contestants/support/link.h"
#include "tests/bench/contestants/support/player.h"
#include "tests/bench/contestants/support/record.h"
#include "tests/bench/contestants/support/trouble.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct raw_seat {
    redisContext *context;
    const bench_kind *kind;
    bench_record turn;
} raw_seat;

static char server[512]; /* its URL */
static redisContext *control;

/* --- learning --- */

/* A turn of the library's, which is recorded; in one before, the server gets to know the scripts. */
static bool watch_turn(bench_object *object, const char *name, bench_record *turn)
{
    redisContext *heard = link_open(server, "control");
    bool right = heard && object_take(object) && object_give(object) && record_begin(heard) && object_take(object) &&
                 object_give(object) && record_end(heard, control, name, turn);
    if (heard)
        redisFree(heard);
    return right;
}

static bool is_usable(const bench_kind *kind, const bench_record *turn)
{
    if (turn->count != kind->requests)
        return trouble("the library sent %d requests for a turn of %s, not %d", turn->count, kind->name, kind->requests);
    for (int i = 0; i < turn->count; i++) {
        const char *command = turn->requests[i].words[0];
        if (strcmp(command, "EVALSHA") != 0)
            return trouble("the library sent %s as request %d of a turn of %s, not EVALSHA", command, i + 1, kind->name);
    }
    return true;
}

static bool learn(raw_seat *seat, const char *name)
{
    rlock_client *client = NULL;
    bench_object *object = NULL;
    bool right = rlock_client_open(&client, server) == RLOCK_OK || trouble("%s", rlock_last_error());
    right = right && (object = object_open(seat->kind, client, name)) && watch_turn(object, name, &seat->turn) &&
            is_usable(seat->kind, &seat->turn);
    if (object)
        object_close(object);
    rlock_client_close(client);
    return right;
}

/* --- turns --- */

/* What is granted is answered with nil, a list (with a token or a time) or 1, what is released with 1. */
static bool is_right(const redisReply *reply, bool releases)
{
    return (reply->type == REDIS_REPLY_INTEGER && reply->integer == 1) ||
           (!releases && (reply->type == REDIS_REPLY_NIL || reply->type == REDIS_REPLY_ARRAY));
}

static bool send(const raw_seat *seat, const bench_request *request, bool releases)
{
    redisReply *reply =
        redisCommandArgv(seat->context, request->count, (const char **)request->words, request->lengths);
    bool right = reply && is_right(reply, releases);
    if (!right)
        trouble("%s %s: %s", releases ? "release" : "acquire", seat->kind->name,
                !reply                               ? seat->context->errstr
                : reply->type == REDIS_REPLY_ERROR ? reply->str
                                                     : "wrong answer");
    freeReplyObject(reply);
    return right;
}

static bool take(void *own)
{
    const raw_seat *seat = own;
    bool right = true;
    for (int i = 0; right && i < seat->turn.count / 2; i++)
        right = send(seat, &seat->turn.requests[i], false);
    return right;
}

static bool give(void *own)
{
    const raw_seat *seat = own;
    bool right = true;
    for (int i = seat->turn.count / 2; right && i < seat->turn.count; i++)
        right = send(seat, &seat->turn.requests[i], true);
    return right;
}

/* --- its life --- */

static bool open_control(const char *url)
{
    snprintf(server, sizeof server, "%s", url);
    return (control = link_open(url, "control"));
}

static void close_control(void)
{
    if (control)
        redisFree(control);
}

static void leave(void *own)
{
    raw_seat *seat = own;
    if (seat->context)
        redisFree(seat->context);
    record_free(&seat->turn);
    free(seat);
}

static void *join(const char *kind, const char *name)
{
    raw_seat *seat = calloc(1, sizeof *seat);
    if (!seat)
        abort();
    char named[32];
    snprintf(named, sizeof named, "raw-%d", (int)getpid());
    if ((seat->kind = kind_named(kind)) && learn(seat, name) && (seat->context = link_open(server, named)))
        return seat;
    leave(seat);
    return NULL;
}

int main(void)
{
    static const bench_player raw_player = {open_control, join, take, give, leave, close_control};
    return player_run(&raw_player);
}
