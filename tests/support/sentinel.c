/* Sentinels of the test's own over a master and its replicas. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/sentinel.h"

#include "tests/support/event.h"
#include "tests/support/server_parts.h"
#include "tests/support/test.h"
#include "tests/support/texts.h"
#include "tests/support/yaml.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WAIT_MS 30000 /* for what takes a moment, unless the machine is busy */
/* A failover that is not done by then, when the machine stood still, say, has been given up (failover-timeout). */
#define GIVEN_UP_MS 5000

struct sentinel {
    fleet *fleet;
    server *nodes[SENTINELS];
    int count;
    const char *hosts, *url;
    texts texts;
};

/* Those that the majority does not need take the master for down later, so that they have a vote for whoever asks first.
 * With none left, each sentinel has voted for itself, and they try again after twice their failover-timeout. */
static const char *config_of(sentinel *self, const sentinel_plan *plan, int number)
{
    int majority = self->count / 2 + 1;
    const char *servers = server_argument(fleet_node(self->fleet, 0), "--requirepass"), *sentinels = NULL;
    for (int i = 0; plan->sentinel_args && plan->sentinel_args[i]; i++) {
        if (strcmp(plan->sentinel_args[i], "--requirepass") == 0)
            sentinels = plan->sentinel_args[i + 1];
    }
    return texts_add(&self->texts,
                     "sentinel monitor " SENTINEL_MASTER " 127.0.0.1 %d %d\n"
                     "sentinel down-after-milliseconds " SENTINEL_MASTER " %d\n"
                     "sentinel failover-timeout " SENTINEL_MASTER " 8000\n"
                     "%s%s\n%s%s\n%s",
                     server_public_port(fleet_node(self->fleet, 0)), majority, number < majority ? 4000 : 6000,
                     servers ? "sentinel auth-pass " SENTINEL_MASTER " " : "", servers ? servers : "",
                     sentinels ? "sentinel sentinel-pass " : "", sentinels ? sentinels : "",
                     plan->config ? plan->config : "");
}

/* From 7.0 on sentinels can be told to look, ask and tell more often than every few seconds, and to
 * look on for a second at most, not for 30 s, after the machine has stood still: from a time on within which
 * they would take what stood still with them for down. Each looks on for another time, lest all of them
 * begin a failover at once, in which each votes for itself. Others take longer. Not to ping more often: what
 * they heard of a replica would be too old for them within five of those periods. */
static void hurry(server *node, int number)
{
    freeReplyObject(server_command(node, "SENTINEL DEBUG info-period 500 ask-period 200 publish-period 200 "
                                         "min-link-reconnect-period 200 tilt-trigger 500 tilt-period %d",
                                   400 + 300 * number));
}

/* A field of SENTINEL MASTER; -1: it does not know. */
static long long field_of(server *node, const char *field)
{
    long long value = -1;
    redisReply *reply = server_command(node, "SENTINEL MASTER " SENTINEL_MASTER);
    for (size_t i = 0; i + 1 < reply->elements; i += 2) {
        if (strcmp(reply->element[i]->str, field) == 0)
            value = atoll(reply->element[i + 1]->str);
    }
    freeReplyObject(reply);
    return value;
}

static void await_field(server *node, const char *field, int expected)
{
    for (int64_t end_ms = limit_end_ms(WAIT_MS); field_of(node, field) != expected; pass_ms(SERVER_LOOK_MS))
        cr_assert(now_ms() < end_ms, "sentinel at port %d: %s is %lld, not %d", server_port(node), field,
                  field_of(node, field), expected);
}

/* Whether it would take any of the replicas for a new master. */
static bool trusts_replicas(server *node)
{
    redisReply *replicas = server_command(node, "SENTINEL REPLICAS " SENTINEL_MASTER);
    bool all = true;
    for (size_t i = 0; i < replicas->elements; i++) {
        const redisReply *replica = replicas->element[i];
        bool linked = false;
        for (size_t j = 0; j + 1 < replica->elements; j += 2)
            linked |= strcmp(replica->element[j]->str, "master-link-status") == 0 &&
                      strcmp(replica->element[j + 1]->str, "ok") == 0;
        all &= linked;
    }
    freeReplyObject(replicas);
    return all;
}

static void await_trust(server *node)
{
    for (int64_t end_ms = limit_end_ms(WAIT_MS); !trusts_replicas(node); pass_ms(SERVER_LOOK_MS))
        cr_assert(now_ms() < end_ms, "sentinel at port %d does not hear of the replicas", server_port(node));
}

sentinel *sentinel_start(const sentinel_plan *given)
{
    sentinel_plan plan = given ? *given : (sentinel_plan){0};
    int replicas = plan.replicas ? plan.replicas : 2;
    sentinel *self = calloc(1, sizeof *self);
    cr_assert(self != NULL);
    self->count = plan.sentinels ? plan.sentinels : 3;
    cr_assert(self->count <= SENTINELS, "more than %d sentinels", SENTINELS);
    self->fleet = fleet_start(replicas, plan.server_args);
    for (int i = 0; i < self->count; i++) {
        self->nodes[i] = server_start_sentinel(config_of(self, &plan, i), plan.sentinel_args);
        hurry(self->nodes[i], i);
        self->hosts = texts_add(&self->texts, "%s%s127.0.0.1:%d", i ? self->hosts : "", i ? "," : "",
                                server_public_port(self->nodes[i]));
    }
    for (int i = 0; i < self->count; i++) {
        await_field(self->nodes[i], "num-slaves", replicas);
        await_field(self->nodes[i], "num-other-sentinels", self->count - 1);
        await_trust(self->nodes[i]);
    }
    self->url = texts_add(&self->texts, "redis-sentinel://%s/?masterName=" SENTINEL_MASTER, self->hosts);
    return self;
}

/* First those that would see a failure in the others' end. */
void sentinel_stop(sentinel *self)
{
    if (!self)
        return;
    for (int i = 0; i < self->count; i++)
        server_stop(self->nodes[i]);
    fleet_stop(self->fleet);
    texts_free(&self->texts);
    free(self);
}

const char *sentinel_hosts(const sentinel *self)
{
    return self->hosts;
}

const char *sentinel_url(const sentinel *self)
{
    return self->url;
}

const char *sentinel_url_with(sentinel *self, const char *query)
{
    return texts_add(&self->texts, "%s&%s", self->url, query);
}

const char *sentinel_yaml(sentinel *self, const char *section, const char *top)
{
    const char *more = texts_add(&self->texts, "masterName: \"" SENTINEL_MASTER "\"\n%s", section ? section : "");
    return yaml_write(&self->texts, &(yaml){.section = "sentinelServersConfig",
                                            .list = "sentinelAddresses",
                                            .listed = self->nodes,
                                            .count = self->count,
                                            .more = more,
                                            .top = top});
}

int sentinel_size(const sentinel *self)
{
    return self->count;
}

server *sentinel_node(const sentinel *self, int number)
{
    cr_assert(number >= 0 && number < self->count, "there is no sentinel %d", number);
    return self->nodes[number];
}

fleet *sentinel_fleet(const sentinel *self)
{
    return self->fleet;
}

server *sentinel_server(const sentinel *self, int node)
{
    return fleet_node(self->fleet, node);
}

/* --- failover --- */

static int named_by(sentinel *self, server *node)
{
    redisReply *reply = server_command(node, "SENTINEL GET-MASTER-ADDR-BY-NAME " SENTINEL_MASTER);
    int port = reply->elements == 2 ? atoi(reply->element[1]->str) : 0;
    freeReplyObject(reply);
    return fleet_node_at(self->fleet, port);
}

int sentinel_master(sentinel *self)
{
    int master = -1;
    for (int i = 0; i < self->count; i++) {
        if (!server_is_up(self->nodes[i]))
            continue;
        int named = named_by(self, self->nodes[i]);
        if (master >= 0 && named != master)
            return -1;
        master = named;
    }
    return master;
}

static int await_switch_until(sentinel *self, int from, int64_t end_ms)
{
    for (;; pass_ms(SERVER_LOOK_MS)) {
        int node = sentinel_master(self);
        if (node >= 0 && node != from && server_is_up(fleet_node(self->fleet, node)) &&
            fleet_wait_master(self->fleet, node, 0))
            return node;
        if (now_ms() >= end_ms)
            return -1;
    }
}

int sentinel_await_switch(sentinel *self, int from, int64_t ms)
{
    return await_switch_until(self, from, limit_end_ms(ms));
}

static server *first_up(const sentinel *self)
{
    for (int i = 0; i < self->count; i++) {
        if (server_is_up(self->nodes[i]))
            return self->nodes[i];
    }
    cr_assert_fail("no sentinel is up");
    return NULL;
}

/* Again where the sentinel has not yet brought its last failover to its end. */
static void order_failover(sentinel *self, int from)
{
    server *node = first_up(self);
    for (int64_t end_ms = limit_end_ms(WAIT_MS); named_by(self, node) == from; pass_ms(20)) {
        redisReply *reply = server_command(node, "SENTINEL FAILOVER " SENTINEL_MASTER);
        bool begun = reply->type == REDIS_REPLY_STATUS;
        cr_assert(begun || now_ms() < end_ms, "SENTINEL FAILOVER: %s", reply->str);
        freeReplyObject(reply);
        if (begun)
            return;
    }
}

int sentinel_fail_over(sentinel *self)
{
    int from = sentinel_master(self);
    cr_assert(from >= 0, "the sentinels do not agree on a master");
    int to = -1;
    for (int64_t end_ms = limit_end_ms(WAIT_MS); to < 0; to = await_switch_until(self, from, now_ms() + GIVEN_UP_MS)) {
        cr_assert(now_ms() < end_ms, "no failover took place");
        order_failover(self, from); /* once more, if the sentinels have given the last one up */
    }
    cr_assert(fleet_wait_in_step(self->fleet, from, WAIT_MS), "the former master does not follow the new one");
    return to;
}

void sentinel_rejoin(sentinel *self, int node)
{
    int master = sentinel_master(self);
    cr_assert(master >= 0 && master != node, "the sentinels name node %d as the master", master);
    server_restart(fleet_node(self->fleet, node));
    fleet_follow(self->fleet, node, master);
}
