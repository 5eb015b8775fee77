/* Fair: the queue of a fair lock on the stage's server. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/fair.h"

#include "tests/integration/support/keys.h"
#include "tests/integration/support/kinds.h"
#include "tests/integration/support/stage.h"
#include "tests/support/event.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT 256

rlock *fair_of(rlock_client *client, const char *name)
{
    return kind_of(&kind_fair, client, name);
}

int64_t server_time_ms(void)
{
    redisReply *time = server_command(stage.server, "TIME");
    int64_t ms = strtoll(time->element[0]->str, NULL, 10) * 1000 + strtoll(time->element[1]->str, NULL, 10) / 1000;
    freeReplyObject(time);
    return ms;
}

static const char *key(const char *prefix, const char *name, char text[TEXT])
{
    snprintf(text, TEXT, strchr(name, '{') ? "%s:%s" : "%s:{%s}", prefix, name);
    return text;
}

static const char *queue_key(const char *name)
{
    static _Thread_local char text[TEXT];
    return key("redisson_lock_queue", name, text);
}

static const char *timeout_key(const char *name)
{
    static _Thread_local char text[TEXT];
    return key("redisson_lock_timeout", name, text);
}

int queue_length(const char *name)
{
    return (int)server_integer(stage.server, "LLEN %s", queue_key(name));
}

const char *queued_at(const char *name, int place)
{
    static char owner[TEXT];
    char *text = server_text(stage.server, "LINDEX %s %d", queue_key(name), place);
    snprintf(owner, sizeof owner, "%s", text ? text : "");
    free(text);
    return owner;
}

bool wait_queued(const char *name, int length, int64_t ms)
{
    for (int64_t until_ms = limit_end_ms(ms); queue_length(name) != length; pass_ms(1)) {
        if (now_ms() >= until_ms)
            return false;
    }
    return true;
}

int64_t score_of(const char *name, const char *owner)
{
    char *text = server_text(stage.server, "ZSCORE %s %s", timeout_key(name), owner);
    int64_t score = text ? (int64_t)strtod(text, NULL) : 0;
    free(text);
    return score;
}

void set_score(const char *name, const char *owner, int64_t score)
{
    freeReplyObject(server_command(stage.server, "ZADD %s %lld %s", timeout_key(name), (long long)score, owner));
}

int score_count(const char *name)
{
    return (int)server_integer(stage.server, "ZCARD %s", timeout_key(name));
}

const char *waiter_channel(const char *name, const char *owner)
{
    static char channel[2 * TEXT];
    snprintf(channel, sizeof channel, "%s:%s", channel_of(name), owner);
    return channel;
}

bool wait_all_listen(const char *name, int64_t ms)
{
    for (int place = 0, length = queue_length(name); place < length; place++) {
        if (!server_wait_subscribers(stage.server, waiter_channel(name, queued_at(name, place)), 1, ms))
            return false;
    }
    return true;
}

/* Its second question, asked once it listens, changes nothing on the server: seen by its sleep. */
static actor *await_place(actor *waiter, rlock *lock, int length)
{
    cr_assert(wait_queued(rlock_name(lock), length, 5000), "it does not queue");
    cr_assert(wait_all_listen(rlock_name(lock), 5000), "somebody does not listen");
    cr_assert(actor_asleep(waiter, 5000));
    return waiter;
}

actor *queue_up(rlock *lock)
{
    int length = queue_length(rlock_name(lock));
    actor *waiter = actor_start();
    actor_begin_lock(waiter, lock);
    return await_place(waiter, lock, length + 1);
}

actor *queue_up_for(rlock *lock, int64_t wait_ms, int64_t lease_ms)
{
    int length = queue_length(rlock_name(lock));
    actor *waiter = actor_start();
    actor_begin_try(waiter, lock, wait_ms, lease_ms);
    return await_place(waiter, lock, length + 1);
}

const char *foreign_owner(int number)
{
    static _Thread_local char owners[8][64];
    char *owner = owners[number % 8];
    snprintf(owner, sizeof owners[0], "%s:%d", FOREIGN_CLIENT, number);
    return owner;
}

void foreign_queue(const char *name, int number, int64_t left_ms)
{
    freeReplyObject(server_command(stage.server, "RPUSH %s %s", queue_key(name), foreign_owner(number)));
    set_score(name, foreign_owner(number), server_time_ms() + left_ms);
}

redisContext *foreign_listen(const char *name, int number)
{
    redisContext *listening = foreign_subscribe(waiter_channel(name, foreign_owner(number)));
    cr_assert(server_wait_subscribers(stage.server, waiter_channel(name, foreign_owner(number)), 1, 5000));
    return listening;
}

bool foreign_told(redisContext *listening, int64_t ms)
{
    void *message = NULL;
    ms = ms > 0 ? limit_end_ms(ms) - now_ms() : 1; /* 0 would be no limit */
    redisSetTimeout(listening, (struct timeval){.tv_sec = ms / 1000, .tv_usec = ms % 1000 * 1000});
    if (redisGetReply(listening, &message) != REDIS_OK)
        return false;
    freeReplyObject(message);
    return true;
}

void foreign_fair_release(const char *name)
{
    foreign_vanish(name);
    const char *head = queued_at(name, 0);
    if (*head)
        freeReplyObject(server_command(stage.server, "PUBLISH %s 0", waiter_channel(name, head)));
}
