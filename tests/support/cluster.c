/* The start of the test's cluster, and its end. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/cluster.h"

#include "tests/support/cluster_parts.h"
#include "tests/support/event.h"
#include "tests/support/server_parts.h"
#include "tests/support/test.h"
#include "tests/support/yaml.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NODE_TIMEOUT "5000"

/* Replicas stay where they are put: none moves to a master that has lost its own. And one that got its
 * master's data by way of a file counts for WAIT at once, else up to a second later. */
#define ARGUMENTS                                                                                  \
    ARGS("--cluster-enabled", "yes", "--cluster-config-file", "nodes.conf",                        \
         "--cluster-node-timeout", NODE_TIMEOUT, "--cluster-migration-barrier", "99",              \
         "--repl-diskless-sync", "no")

static void must(server *node, redisReply *reply, const char *what)
{
    cr_assert(reply->type != REDIS_REPLY_ERROR, "port %d refuses `%s`: %s", server_port(node), what, reply->str);
    freeReplyObject(reply);
}

void cluster_each(cluster *self, const char *format, ...)
{
    char *command = NULL;
    va_list args;
    va_start(args, format);
    cr_assert(vasprintf(&command, format, args) >= 0);
    va_end(args);
    for (int i = 0; i < self->count; i++) {
        if (cluster_has(self, i))
            must(self->nodes[i], server_command(self->nodes[i], command), command);
    }
    free(command);
}

void cluster_ask_id(cluster *self, int node)
{
    char *id = server_text(self->nodes[node], "CLUSTER MYID");
    snprintf(self->ids[node], sizeof self->ids[node], "%s", id);
    free(id);
}

static void start_nodes(cluster *self, const char *const *args)
{
    texts words = {0};
    const char *const *all = texts_args(&words, ARGUMENTS, args);
    for (int i = 0; i < self->count; i++) {
        self->nodes[i] = server_start_with(all);
        cluster_ask_id(self, i);
    }
    texts_free(&words);
}

static void share_password(cluster *self)
{
    const char *password = server_argument(self->nodes[0], "--requirepass");
    if (!password)
        return;
    self->password = texts_add(&self->texts, "%s", password);
    cluster_each(self, "CONFIG SET masterauth %s", password);
}

static bool knows_everybody(cluster *self, int node)
{
    char *nodes = server_text(self->nodes[node], "CLUSTER NODES");
    bool all = !strstr(nodes, "handshake");
    for (int i = 0; i < self->count && all; i++)
        all = !cluster_has(self, i) || strstr(nodes, self->ids[i]) != NULL;
    free(nodes);
    return all;
}

/* Everybody meets everybody, which is quicker than gossip. An epoch is for a node that knows nobody yet. Who was met
 * and says nothing for cluster-node-timeout, as on a machine that stands still, is forgotten for good. */
void cluster_introduce(cluster *self)
{
    cluster_each(self, "CONFIG SET cluster-node-timeout %d", 2 * CLUSTER_WAIT_MS);
    for (int i = 0; i < self->masters; i++) {
        if (cluster_has(self, i))
            cluster_tell(self, i, "CLUSTER SET-CONFIG-EPOCH %d", i + 1);
    }
    for (int i = 0; i < self->count; i++) {
        for (int j = i + 1; j < self->count; j++) {
            if (cluster_has(self, i) && cluster_has(self, j))
                cluster_tell(self, i, "CLUSTER MEET 127.0.0.1 %d", server_port(self->nodes[j]));
        }
    }
    int64_t end_ms = limit_end_ms(CLUSTER_WAIT_MS);
    for (int i = 0; i < self->count; i++) {
        for (; cluster_has(self, i) && !knows_everybody(self, i); pass_ms(SERVER_LOOK_MS))
            cr_assert(now_ms() < end_ms, "port %d does not meet all others", server_port(self->nodes[i]));
    }
    cluster_each(self, "CONFIG SET cluster-node-timeout " NODE_TIMEOUT);
}

void cluster_add_slots(cluster *self, int node, int first, int last)
{
    char *command = NULL;
    size_t size;
    FILE *out = open_memstream(&command, &size);
    fputs("CLUSTER ADDSLOTS", out); /* ADDSLOTSRANGE came with 7.0 */
    for (int slot = first; slot <= last; slot++)
        fprintf(out, " %d", slot);
    fclose(out);
    cluster_tell(self, node, "%s", command);
    free(command);
}

void cluster_share_slots(cluster *self)
{
    int masters = 0;
    for (int i = 0; i < self->masters; i++)
        masters += cluster_has(self, i);
    for (int i = 0, master = 0; i < self->masters; i++) {
        if (!cluster_has(self, i))
            continue;
        cluster_add_slots(self, i, CLUSTER_SLOTS * master / masters, CLUSTER_SLOTS * (master + 1) / masters - 1);
        master++;
    }
}

/* As soon as it has heard of its master. */
static void replicate(cluster *self, int number)
{
    server *node = self->nodes[number];
    const char *master = self->ids[number % self->masters];
    for (int64_t end_ms = limit_end_ms(CLUSTER_WAIT_MS);; pass_ms(SERVER_LOOK_MS)) {
        redisReply *reply = server_command(node, "CLUSTER REPLICATE %s", master);
        bool done = reply->type != REDIS_REPLY_ERROR;
        cr_assert(done || now_ms() < end_ms, "port %d does not replicate: %s", server_port(node), reply->str);
        freeReplyObject(reply);
        if (done)
            return;
    }
}

static const char *hosts(cluster *self)
{
    const char *all = NULL;
    for (int i = 0; i < self->count; i++)
        all = texts_add(&self->texts, "%s%s127.0.0.1:%d", all ? all : "", all ? "," : "",
                        server_public_port(self->nodes[i]));
    return all;
}

cluster *cluster_start(int masters, int replicas_each, const char *const *args)
{
    cluster *self = calloc(1, sizeof *self);
    cr_assert(self && masters > 0 && masters * (1 + replicas_each) <= CLUSTER_NODES, "no cluster of that size");
    self->masters = masters;
    self->count = masters * (1 + replicas_each);
    start_nodes(self, args);
    self->tls = server_argument(self->nodes[0], "--tls-cert-file") != NULL;
    share_password(self);
    cluster_introduce(self);
    cluster_share_slots(self);
    for (int i = masters; i < self->count; i++)
        replicate(self, i);
    cr_assert(cluster_await_settled(self, CLUSTER_WAIT_MS), "the cluster does not come up");
    self->hosts = hosts(self);
    self->url = texts_add(&self->texts, "redis-cluster://%s", self->hosts);
    return self;
}

void cluster_stop(cluster *self)
{
    if (!self)
        return;
    for (int i = 0; i < self->count; i++)
        server_stop(self->nodes[i]);
    texts_free(&self->texts);
    free(self);
}

const char *cluster_hosts(const cluster *self)
{
    return self->hosts;
}

const char *cluster_url(const cluster *self)
{
    return self->url;
}

const char *cluster_url_with(cluster *self, const char *query)
{
    return texts_add(&self->texts, "%s?%s", self->url, query);
}

const char *cluster_yaml(cluster *self, const char *section, const char *top)
{
    return yaml_write(&self->texts, &(yaml){.section = "clusterServersConfig",
                                            .list = "nodeAddresses",
                                            .listed = self->nodes,
                                            .count = self->count,
                                            .more = section,
                                            .top = top});
}

int cluster_size(const cluster *self)
{
    return self->count;
}

server *cluster_node(const cluster *self, int node)
{
    cr_assert(node >= 0 && node < self->count, "the cluster has no node %d", node);
    return self->nodes[node];
}
