/* Keys: what stands on the stage's server under a lock's name, looked at past the library. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/keys.h"

#include "tests/integration/support/stage.h"
#include "tests/support/event.h"
#include "tests/support/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void assert_no_keys(void)
{
    /* In one step: a client whose last waiter has left may put a signal back that came too late for it. */
    static const char drop[] = "for _, key in ipairs(redis.call('keys', 'lock-signal:*')) do redis.call('del', key) end "
                               "return #redis.call('keys', '*')";
    int64_t left = server_integer(stage.server, "EVAL %s 0", drop);
    char *keys = server_keyspace(stage.server);
    cr_assert(left == 0, "%lld keys are left; there are now:\n%s", (long long)left, keys);
    free(keys);
}

bool wait_key_count(int64_t count, int64_t ms)
{
    for (int64_t end_ms = limit_end_ms(ms); server_integer(stage.server, "DBSIZE") != count; pass_ms(1)) {
        if (now_ms() >= end_ms)
            return false;
    }
    return true;
}

/* What lua/lock/waiters.inc gives a waiter at most. */
#define OFFER_MOST_MS 5000

int64_t pttl_of(const char *name)
{
    return server_integer(stage.server, "PTTL %s", name);
}

int64_t wire_number(const char *name, rlock_client *client)
{
    redisReply *fields = server_command(stage.server, "HKEYS %s", name);
    cr_assert(fields->type == REDIS_REPLY_ARRAY && fields->elements == 1, "not one owner but %zu",
              fields->elements);
    const char *owner = fields->element[0]->str, *id = rlock_client_id(client);
    cr_assert(strncmp(owner, id, strlen(id)) == 0 && owner[strlen(id)] == ':',
              "the owner is %s, not one of client %s", owner, id);
    const char *digits = owner + strlen(id) + 1;
    char *end;
    long long number = strtoll(digits, &end, 10);
    cr_assert(*digits >= '1' && *digits <= '9' && *end == 0, "%s has no positive decimal number", owner);
    freeReplyObject(fields);
    return number;
}

/* The registry of those that wait for it; the caller frees the text. */
static char *waiters_of(const char *name)
{
    size_t size = strlen(name) + sizeof "rlock_waiters::braces";
    char *key = malloc(size);
    cr_assert(key != NULL);
    snprintf(key, size, strchr(name, '{') ? "rlock_waiters:%s:braces" : "rlock_waiters:{%s}", name);
    return key;
}

int64_t assert_held_alone(const char *name, rlock_client *client, int count,
                          int64_t lease_ms, int64_t since_ms)
{
    int64_t number = wire_number(name, client);
    char owner[80], count_text[16];
    snprintf(owner, sizeof owner, "%s:%lld", rlock_client_id(client), (long long)number);
    snprintf(count_text, sizeof count_text, "%d", count);
    char *value = server_text(stage.server, "HGET %s %s", name, owner);
    cr_assert(value && strcmp(value, count_text) == 0, "the count is %s, not %d", value, count);
    free(value);
    /* The watchdog makes a whole lease of an offer that was taken. */
    while (lease_ms > OFFER_MOST_MS && pttl_of(name) > 0 && pttl_of(name) <= OFFER_MOST_MS)
        pass_ms(1);
    int64_t ttl_ms = pttl_of(name);
    /* The server's clock and ours may each be cut off to the millisecond. */
    assert_between(ttl_ms, lease_ms - (now_ms() - since_ms) - 2, lease_ms);
    char *registry = waiters_of(name);
    int64_t waiters = server_integer(stage.server, "EXISTS %s", registry);
    free(registry);
    cr_assert(server_integer(stage.server, "DBSIZE") == 1 + waiters, "there are other keys beside the lock");
    return number;
}

void assert_kept(const char *name, rlock *held, int64_t ms)
{
    for (int64_t end_ms = now_ms() + ms; now_ms() < end_ms; pass_ms(10)) {
        int64_t valid_ms = held ? rlock_valid_for(held) : 1, ttl_ms = pttl_of(name);
        cr_assert(ttl_ms > 0, "the lock is gone");
        cr_assert(valid_ms > 0, "the lock counts as lost");
    }
}

bool wait_renewed(const char *name, int64_t ms)
{
    int64_t before_ms = pttl_of(name);
    for (int64_t end_ms = limit_end_ms(ms); now_ms() < end_ms; pass_ms(5)) {
        int64_t left_ms = pttl_of(name);
        if (left_ms > before_ms)
            return true;
        before_ms = left_ms;
    }
    return false;
}

const char *holder_of(const char *name)
{
    static char id[37];
    redisReply *fields = server_command(stage.server, "HKEYS %s", name);
    cr_assert(fields->type == REDIS_REPLY_ARRAY, "%s is no hash", name);
    *id = 0;
    if (fields->elements)
        snprintf(id, sizeof id, "%s", fields->element[0]->str);
    freeReplyObject(fields);
    return id;
}

void foreign_hold(const char *name, int64_t lease_ms)
{
    freeReplyObject(server_command(stage.server, "HSET %s %s 1", name, FOREIGN_CLIENT ":1"));
    if (lease_ms > 0)
        freeReplyObject(server_command(stage.server, "PEXPIRE %s %lld", name, (long long)lease_ms));
}

redisContext *foreign_subscribe(const char *channel)
{
    redisContext *connection = redisConnectUnix(server_socket(stage.server));
    cr_assert(connection && !connection->err, "no connection to listen on");
    freeReplyObject(redisCommand(connection, "SUBSCRIBE %s", channel));
    return connection;
}

void foreign_vanish(const char *name)
{
    freeReplyObject(server_command(stage.server, "DEL %s", name));
}

void foreign_release(const char *name)
{
    foreign_vanish(name);
    freeReplyObject(server_command(stage.server, "PUBLISH %s 0", channel_of(name)));
}

const char *channel_of(const char *name)
{
    static char channel[8192];
    snprintf(channel, sizeof channel,
             strchr(name, '{') ? "redisson_lock__channel:%s" : "redisson_lock__channel:{%s}", name);
    return channel;
}

bool wait_listened(const char *name, int64_t ms)
{
    for (int64_t end_ms = limit_end_ms(ms);; pass_ms(1)) {
        bool waits = server_count_waiting(stage.server, channel_of(name)) > 0;
        if (waits || now_ms() >= end_ms)
            return waits;
    }
}

bool wait_unlistened(const char *name, int64_t ms)
{
    for (int64_t end_ms = limit_end_ms(ms);; pass_ms(1)) {
        redisReply *heard = server_command(stage.server, "PUBSUB CHANNELS");
        const char *channel = channel_of(name);
        bool none = true;
        for (size_t i = 0; i < heard->elements; i++)
            none &= strncmp(heard->element[i]->str, channel, strlen(channel)) != 0;
        freeReplyObject(heard);
        if (none || now_ms() >= end_ms)
            return none;
    }
}

/* A server before 7.0 refuses the question for the sharded ones, of which it has none. */
static int64_t count_channels(const char *command)
{
    redisReply *channels = server_command(stage.server, command);
    int64_t count = 0;
    for (size_t i = 0; i < channels->elements; i++)
        count += strncmp(channels->element[i]->str, "__", 2) != 0;
    freeReplyObject(channels);
    return count;
}

int64_t channels_listened(void)
{
    return count_channels("PUBSUB CHANNELS") + count_channels("PUBSUB SHARDCHANNELS");
}

bool wait_no_channels(int64_t ms)
{
    for (int64_t end_ms = limit_end_ms(ms); now_ms() < end_ms; pass_ms(1)) {
        if (channels_listened() == 0)
            return true;
    }
    return false;
}

void offer_late(const char *name, rlock_client *client, int64_t ms)
{
    char *registry = waiters_of(name);
    redisReply *first = server_command(stage.server, "ZRANGE %s 0 0", registry);
    free(registry);
    cr_assert(first->type == REDIS_REPLY_ARRAY && first->elements == 1, "nobody is registered");
    const char *number = strchr(first->element[0]->str, ':');
    cr_assert(number != NULL);
    int digits = (int)strspn(number + 1, "0123456789");
    char said[60];
    int length = snprintf(said, sizeof said, "%.*s %lld", digits, number + 1, (long long)ms);
    freeReplyObject(server_command(stage.server, "PUBLISH %s:%s %b", channel_of(name), rlock_client_id(client), said,
                                   (size_t)length));
    freeReplyObject(first);
}
