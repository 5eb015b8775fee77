/* Who serves what in the test's cluster, as its nodes see it. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/cluster_parts.h"
#include "tests/support/event.h"
#include "tests/support/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- a node's view --- */

/* Its line of CLUSTER NODES: id, address, flags, master, ping, pong, epoch, link, slots…. */
cluster_self cluster_ask_self(cluster *self, int node)
{
    char *nodes = server_text(self->nodes[node], "CLUSTER NODES"), *rest = strstr(nodes, "myself");
    cr_assert(rest != NULL, "CLUSTER NODES without a line of its own: %s", nodes);
    rest[strcspn(rest, "\n")] = 0;
    cluster_self own = {0};
    char *word[6] = {NULL};
    for (int i = 0; i < 6; i++)
        cr_assert((word[i] = strsep(&rest, " ")) != NULL, "CLUSTER NODES: too short a line");
    own.master = strstr(word[0], "master") != NULL;
    snprintf(own.of, sizeof own.of, "%s", word[1]);
    own.epoch = atoll(word[4]);
    own.slots = strdup(rest ? rest : "");
    free(nodes);
    return own;
}

bool cluster_has_slot(const cluster_self *own, int slot)
{
    const char *at = own->slots;
    while (*at && *at != '[') { /* [slot->-id] is one on its way */
        char *end;
        long first = strtol(at, &end, 10), last = *end == '-' ? strtol(end + 1, &end, 10) : first;
        if (first <= slot && slot <= last)
            return own->master;
        at = end + strspn(end, " ");
    }
    return false;
}

bool cluster_is_well(cluster *self, int node)
{
    char *info = server_text(self->nodes[node], "CLUSTER INFO");
    bool well = strstr(info, "cluster_state:ok") != NULL;
    free(info);
    return well;
}

int cluster_port_of(cluster *self, int node, int slot)
{
    redisReply *slots = server_command(self->nodes[node], "CLUSTER SLOTS");
    int port = 0;
    for (size_t i = 0; i < slots->elements; i++) {
        const redisReply *range = slots->element[i];
        if (range->element[0]->integer <= slot && slot <= range->element[1]->integer)
            port = (int)range->element[2]->element[1]->integer;
    }
    freeReplyObject(slots);
    return port;
}

void cluster_await_port(cluster *self, int slot, int port)
{
    int64_t end_ms = now_ms() + CLUSTER_WAIT_MS;
    for (int i = 0; i < self->count; i++) {
        while (server_is_up(self->nodes[i]) && cluster_port_of(self, i, slot) != port) {
            cr_assert(now_ms() < end_ms, "port %d does not learn that slot %d is at port %d",
                      server_port(self->nodes[i]), slot, port);
            pass_ms(5);
        }
    }
}

/* --- the cluster's --- */

int cluster_slot(const char *key)
{
    /* The part between the first { and the next } counts, unless it is empty. */
    const char *open = strchr(key, '{'), *close = open ? strchr(open, '}') : NULL;
    const char *from = close && close > open + 1 ? open + 1 : key;
    const char *to = from == key ? key + strlen(key) : close;
    unsigned crc = 0; /* CRC-16/XMODEM */
    for (; from < to; from++) {
        crc ^= (unsigned)(unsigned char)*from << 8;
        for (int bit = 0; bit < 8; bit++)
            crc = (crc << 1 ^ (crc & 0x8000 ? 0x1021 : 0)) & 0xffff;
    }
    return (int)(crc % CLUSTER_SLOTS);
}

/* One that has been away may still claim what others took over: the latest epoch counts. */
int cluster_serving_slot(cluster *self, int slot)
{
    int serving = -1;
    long long latest = -1;
    for (int i = 0; i < self->count; i++) {
        if (!server_is_up(self->nodes[i]))
            continue;
        cluster_self own = cluster_ask_self(self, i);
        if (cluster_has_slot(&own, slot) && own.epoch > latest) {
            serving = i;
            latest = own.epoch;
        }
        free(own.slots);
    }
    return serving;
}

int cluster_serving(cluster *self, const char *key)
{
    return cluster_serving_slot(self, cluster_slot(key));
}

server *cluster_at(cluster *self, const char *key)
{
    int node = cluster_serving(self, key);
    cr_assert(node >= 0, "no node that is up serves %s", key);
    return self->nodes[node];
}

const char *cluster_key(cluster *self, int node, const char *prefix)
{
    cluster_self own = cluster_ask_self(self, node);
    cr_assert(own.master && *own.slots && *own.slots != '[', "node %d serves no slot", node);
    char key[256];
    int number = 0;
    do
        snprintf(key, sizeof key, "%s%d", prefix, number++);
    while (!cluster_has_slot(&own, cluster_slot(key)));
    free(own.slots);
    return texts_add(&self->texts, "%s", key);
}

int cluster_replica_of(cluster *self, int node)
{
    int found = -1;
    for (int i = 0; i < self->count && found < 0; i++) {
        if (i == node || !server_is_up(self->nodes[i]))
            continue;
        cluster_self own = cluster_ask_self(self, i);
        if (strcmp(own.of, self->ids[node]) == 0)
            found = i;
        free(own.slots);
    }
    return found;
}

/* --- failover --- */

int cluster_await_takeover(cluster *self, int slot, int from, int64_t ms)
{
    for (int64_t end_ms = now_ms() + ms;; pass_ms(5)) {
        int node = cluster_serving_slot(self, slot);
        if (node >= 0 && node != from && cluster_is_well(self, node))
            return node;
        if (now_ms() >= end_ms)
            return -1;
    }
}

void cluster_promote(cluster *self, int replica)
{
    server *node = self->nodes[replica];
    redisReply *reply = server_command(node, "CLUSTER FAILOVER");
    cr_assert(reply->type != REDIS_REPLY_ERROR, "CLUSTER FAILOVER: %s", reply->str);
    freeReplyObject(reply);
    int64_t end_ms = now_ms() + CLUSTER_WAIT_MS;
    for (bool master = false; !master; pass_ms(5)) {
        cluster_self own = cluster_ask_self(self, replica);
        master = own.master;
        free(own.slots);
        cr_assert(master || now_ms() < end_ms, "port %d does not become a master", server_port(node));
    }
    cr_assert(cluster_await_settled(self, CLUSTER_WAIT_MS), "the cluster does not settle on the new master");
}

/* Who serves which slots, as this node sees it: ranges and ports. To be freed. */
static char *view_of(cluster *self, int node)
{
    redisReply *slots = server_command(self->nodes[node], "CLUSTER SLOTS");
    static unsigned short ports[CLUSTER_SLOTS];
    memset(ports, 0, sizeof ports);
    for (size_t i = 0; i < slots->elements; i++) {
        const redisReply *range = slots->element[i];
        for (long long slot = range->element[0]->integer; slot <= range->element[1]->integer; slot++)
            ports[slot] = (unsigned short)range->element[2]->element[1]->integer;
    }
    freeReplyObject(slots);
    char *view = NULL;
    size_t size;
    FILE *out = open_memstream(&view, &size);
    for (int slot = 0; slot < CLUSTER_SLOTS; slot++) {
        if (slot == 0 || ports[slot] != ports[slot - 1])
            fprintf(out, "%d:%d ", slot, ports[slot]);
    }
    fclose(out);
    return view;
}

/* And where each of them is. */
static bool knows_all(cluster *self, int node)
{
    char *nodes = server_text(self->nodes[node], "CLUSTER NODES");
    bool all = true;
    for (int i = 0; i < self->count && all; i++) {
        char known[CLUSTER_ID + 32];
        snprintf(known, sizeof known, "%s 127.0.0.1:%d@", self->ids[i], server_public_port(self->nodes[i]));
        all = strstr(nodes, known) != NULL;
    }
    free(nodes);
    return all && cluster_is_well(self, node);
}

static bool in_step(cluster *self, int node)
{
    char *info = server_text(self->nodes[node], "INFO replication");
    bool so = !strstr(info, "role:slave") || strstr(info, "master_link_status:up");
    free(info);
    return so;
}

static bool is_settled(cluster *self)
{
    char *first = NULL;
    bool so = true;
    for (int i = 0; i < self->count && so; i++) {
        if (!server_is_up(self->nodes[i]))
            continue;
        char *view = view_of(self, i);
        so = (!first || strcmp(first, view) == 0) && knows_all(self, i) && in_step(self, i);
        if (first)
            free(view);
        else
            first = view;
    }
    free(first);
    return so;
}

bool cluster_await_settled(cluster *self, int64_t ms)
{
    for (int64_t end_ms = now_ms() + ms; !is_settled(self); pass_ms(10)) {
        if (now_ms() >= end_ms)
            return false;
    }
    return true;
}
