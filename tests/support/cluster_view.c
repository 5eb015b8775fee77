/* Who serves what in the test's cluster, as its nodes see it. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/cluster_parts.h"
#include "tests/support/event.h"
#include "tests/support/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool cluster_has(const cluster *self, int node)
{
    return !self->left[node] && server_is_up(self->nodes[node]);
}

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

/* The first node of a range of CLUSTER SLOTS, by its id: which port is named depends on the server's
 * version and on how it is asked. */
static int owner_of(const cluster *self, const redisReply *range)
{
    int owner = self->count;
    while (owner-- && strcmp(self->ids[owner], range->element[2]->element[2]->str) != 0)
        ;
    return owner;
}

int cluster_owner_of(cluster *self, int node, int slot)
{
    redisReply *slots = server_command(self->nodes[node], "CLUSTER SLOTS");
    int owner = -1;
    for (size_t i = 0; i < slots->elements; i++) {
        const redisReply *range = slots->element[i];
        if (range->element[0]->integer <= slot && slot <= range->element[1]->integer)
            owner = owner_of(self, range);
    }
    freeReplyObject(slots);
    return owner;
}

void cluster_await_owner(cluster *self, int slot, int owner)
{
    int64_t end_ms = limit_end_ms(CLUSTER_WAIT_MS);
    for (int i = 0; i < self->count; i++) {
        while (cluster_has(self, i) && cluster_owner_of(self, i, slot) != owner) {
            cr_assert(now_ms() < end_ms, "node %d does not learn that slot %d is at node %d", i, slot, owner);
            pass_ms(SERVER_LOOK_MS);
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
        if (!cluster_has(self, i))
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
        if (i == node || !cluster_has(self, i))
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
    for (int64_t end_ms = limit_end_ms(ms);; pass_ms(SERVER_LOOK_MS)) {
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
    int64_t end_ms = limit_end_ms(CLUSTER_WAIT_MS);
    for (bool master = false; !master; pass_ms(SERVER_LOOK_MS)) {
        cluster_self own = cluster_ask_self(self, replica);
        master = own.master;
        free(own.slots);
        cr_assert(master || now_ms() < end_ms, "port %d does not become a master; it logged:\n%s",
                  server_port(node), server_log_end(node));
    }
    cr_assert(cluster_await_settled(self, CLUSTER_WAIT_MS), "the cluster does not settle on the new master");
}

/* Who serves which slots, as this node sees it: where a range of one master begins, and its number. To be
 * freed. */
static char *view_of(cluster *self, int node)
{
    signed char owners[CLUSTER_SLOTS];
    memset(owners, -1, sizeof owners);
    redisReply *slots = server_command(self->nodes[node], "CLUSTER SLOTS");
    for (size_t i = 0; i < slots->elements; i++) {
        const redisReply *range = slots->element[i];
        int owner = owner_of(self, range);
        for (long long slot = range->element[0]->integer; slot <= range->element[1]->integer; slot++)
            owners[slot] = (signed char)owner;
    }
    freeReplyObject(slots);
    char *view = NULL;
    size_t size;
    FILE *out = open_memstream(&view, &size);
    for (int slot = 0; slot < CLUSTER_SLOTS; slot++) {
        if (slot == 0 || owners[slot] != owners[slot - 1])
            fprintf(out, "%d:%d ", slot, owners[slot]);
    }
    fclose(out);
    return view;
}

/* A field of a map in an answer; NULL: it has none. */
static const redisReply *field_of(const redisReply *map, const char *field)
{
    for (size_t i = 0; i + 1 < map->elements; i += 2) {
        if (strcmp(map->element[i]->str, field) == 0)
            return map->element[i + 1];
    }
    return NULL;
}

/* The port on which that node speaks TLS, as this one has heard, whoever asks for it; 0: not yet. */
static int tls_port_of(cluster *self, int node, const char *id)
{
    redisReply *shards = server_command(self->nodes[node], "CLUSTER SHARDS");
    int port = 0;
    for (size_t i = 0; i < shards->elements; i++) {
        const redisReply *nodes = field_of(shards->element[i], "nodes");
        for (size_t j = 0; nodes && j < nodes->elements; j++) {
            const redisReply *its = field_of(nodes->element[j], "tls-port");
            if (its && strcmp(field_of(nodes->element[j], "id")->str, id) == 0)
                port = (int)its->integer;
        }
    }
    freeReplyObject(shards);
    return port;
}

/* Whether these CLUSTER NODES have that one follow that master, "-": none. */
static bool says_follower(const char *nodes, const char *id, const char *master)
{
    for (const char *at = nodes; (at = strstr(at, id)); at++) {
        char of[CLUSTER_ID + 1];
        if ((at == nodes || at[-1] == '\n') && sscanf(at, "%*s %*s %*s %40s", of) == 1)
            return strcmp(of, master) == 0;
    }
    return false;
}

/* Whether the node knows where all are, and who of those that are up follows whom: a master steps down for a
 * replica, and others vote for it, once they know whose it is. To one that asks without TLS, some versions name
 * no port for it. */
static bool knows_all(cluster *self, int node, char (*masters)[CLUSTER_ID + 1])
{
    char *nodes = server_text(self->nodes[node], "CLUSTER NODES");
    bool all = true;
    for (int i = 0; i < self->count && all; i++) {
        int port = server_public_port(self->nodes[i]);
        if (self->left[i])
            continue;
        char known[CLUSTER_ID + 32];
        snprintf(known, sizeof known, "%s 127.0.0.1:%d@", self->ids[i], port);
        all = strstr(nodes, known) || (self->tls && tls_port_of(self, node, self->ids[i]) == port);
        all = all && (!*masters[i] || says_follower(nodes, self->ids[i], masters[i]));
    }
    free(nodes);
    return all && cluster_is_well(self, node);
}

/* WAIT counts a replica when its master, too, knows that it has the data. */
static bool in_step(cluster *self, int node)
{
    char *info = server_text(self->nodes[node], "INFO replication");
    bool so = !strstr(info, "role:slave") || strstr(info, "master_link_status:up");
    for (const char *at = info; so && (at = strstr(at, ",state=")); at++)
        so = strncmp(at, ",state=online", strlen(",state=online")) == 0;
    free(info);
    return so;
}

static bool is_settled(cluster *self)
{
    char masters[CLUSTER_NODES][CLUSTER_ID + 1] = {""}; /* whom each one that is up says that it follows */
    for (int i = 0; i < self->count; i++) {
        if (!cluster_has(self, i))
            continue;
        cluster_self own = cluster_ask_self(self, i);
        snprintf(masters[i], sizeof masters[i], "%s", own.of);
        free(own.slots);
    }
    char *first = NULL;
    bool so = true;
    for (int i = 0; i < self->count && so; i++) {
        if (!cluster_has(self, i))
            continue;
        char *view = view_of(self, i);
        so = (!first || strcmp(first, view) == 0) && knows_all(self, i, masters) && in_step(self, i);
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
    for (int64_t end_ms = limit_end_ms(ms); !is_settled(self); pass_ms(2 * SERVER_LOOK_MS)) {
        if (now_ms() >= end_ms)
            return false;
    }
    return true;
}
