/* The stage of a test in a cluster. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/topology/support/shards.h"

#include "tests/integration/support/kinds.h"
#include "tests/integration/support/objects.h"
#include "tests/support/event.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CLIENTS 16

struct shards shards;

static rlock_client *clients[CLIENTS];
static int client_count;

rlock_client *shards_client_at(const char *url)
{
    cr_assert(client_count < CLIENTS, "too many clients");
    rlock_client *client = NULL;
    assert_ok(rlock_client_open(&client, url));
    clients[client_count++] = client;
    return client;
}

rlock_client *shards_client(const char *query)
{
    return shards_client_at(query ? cluster_url_with(shards.cluster, query) : cluster_url(shards.cluster));
}

void shards_close_client(rlock_client *client)
{
    for (int i = 0; i < client_count; i++) {
        if (clients[i] == client)
            clients[i] = NULL;
    }
    rlock_client_close(client);
}

void shards_start(int masters, int replicas_each, const char *const *args)
{
    /* Ends a test that hangs in a call, whatever the runner makes of its time limit. */
    alarm(HANG_S);
    shards.cluster = cluster_start(masters, replicas_each, args);
}

void shards_open_with(int replicas_each, const char *const *args, const char *query)
{
    shards_start(MASTERS, replicas_each, args);
    shards.client = shards_client(query);
    shards.other = shards_client(query);
}

void shards_open(void)
{
    shards_open_with(0, NULL, PATIENT);
}

void shards_close(void)
{
    for (int i = 0; i < client_count; i++)
        rlock_client_close(clients[i]);
    client_count = 0;
    stage_close();
    cluster_stop(shards.cluster);
    shards = (struct shards){0};
}

rlock *shards_composite(shards_maker *make, rlock_client *client, const char *const names[MASTERS])
{
    rlock *members[MASTERS];
    for (int i = 0; i < MASTERS; i++)
        members[i] = lock_of(client, names[i]);
    return stage_keep(make(members, MASTERS));
}

/* --- all nodes at once --- */

int64_t shards_keys(void)
{
    static const char count[] = "return redis.call('dbsize') - #redis.call('keys', 'lock-signal:*')";
    int64_t keys = 0;
    for (int i = 0; i < cluster_size(shards.cluster); i++) {
        server *node = cluster_node(shards.cluster, i);
        if (!server_is_up(node))
            continue;
        char *info = server_text(node, "INFO replication");
        if (strstr(info, "role:master"))
            keys += server_integer(node, "EVAL %s 0", count);
        free(info);
    }
    return keys;
}

bool shards_go_by_slot(void)
{
    int up = 0;
    while (!server_is_up(cluster_node(shards.cluster, up)))
        up++;
    return server_knows(cluster_node(shards.cluster, up), "SSUBSCRIBE");
}

bool shards_will_go_by_slot(void)
{
    server *one = server_start();
    bool will = server_knows(one, "SSUBSCRIBE");
    server_stop(one);
    return will;
}

int64_t shards_channels_at(int node)
{
    server *at = cluster_node(shards.cluster, node);
    redisReply *reply = server_command(at, shards_go_by_slot() ? "PUBSUB SHARDCHANNELS" : "PUBSUB CHANNELS redisson*");
    int64_t channels = (int64_t)reply->elements;
    freeReplyObject(reply);
    return channels;
}

bool shards_wait_channels_at(int node, int64_t count, int64_t ms)
{
    for (int64_t until_ms = limit_end_ms(ms);; pass_ms(1)) {
        if (shards_channels_at(node) == count)
            return true;
        if (now_ms() >= until_ms)
            return false;
    }
}

/* Without the one for changes of keys (lossTracking), which stays. */
static size_t channels_of(const char *command)
{
    size_t channels = 0;
    for (int i = 0; i < cluster_size(shards.cluster); i++) {
        if (!server_is_up(cluster_node(shards.cluster, i)))
            continue;
        redisReply *reply = server_command(cluster_node(shards.cluster, i), command);
        for (size_t k = 0; k < reply->elements; k++)
            channels += strncmp(reply->element[k]->str, "__", 2) != 0;
        freeReplyObject(reply);
    }
    return channels;
}

bool shards_wait_no_channels(int64_t ms)
{
    for (int64_t until_ms = limit_end_ms(ms);; pass_ms(2)) {
        if (channels_of("PUBSUB SHARDCHANNELS") + channels_of("PUBSUB CHANNELS") == 0)
            return true;
        if (now_ms() >= until_ms)
            return false;
    }
}

void shards_assert_nothing_left(void)
{
    cr_assert(shards_wait_no_channels(10000), "still subscribed");
    cr_assert(shards_keys() == 0, "%lld keys are left", (long long)shards_keys());
}

const char *shards_channel(const char *name)
{
    return kind_channel(&kind_reentrant, name);
}

const char *shards_holder(const char *name)
{
    static char holder[128];
    redisReply *fields = server_command(cluster_at(shards.cluster, name), "HKEYS %s", name);
    snprintf(holder, sizeof holder, "%s", fields->elements ? fields->element[0]->str : "");
    freeReplyObject(fields);
    return holder;
}
