/* Slots of the test's cluster on the move, and slots that nobody serves. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/cluster_parts.h"
#include "tests/support/event.h"
#include "tests/support/test.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void cluster_tell(cluster *self, int node, const char *format, ...)
{
    char *command = NULL;
    va_list args;
    va_start(args, format);
    cr_assert(vasprintf(&command, format, args) >= 0);
    va_end(args);
    redisReply *reply = server_command(self->nodes[node], command);
    cr_assert(reply->type != REDIS_REPLY_ERROR, "port %d refuses `%s`: %s", server_port(self->nodes[node]), command,
              reply->str);
    freeReplyObject(reply);
    free(command);
}

void cluster_move_begin(cluster *self, int slot, int to)
{
    int from = cluster_serving_slot(self, slot);
    cr_assert(from >= 0 && from != to, "slot %d is served by node %d", slot, from);
    cluster_tell(self, to, "CLUSTER SETSLOT %d IMPORTING %s", slot, self->ids[from]);
    cluster_tell(self, from, "CLUSTER SETSLOT %d MIGRATING %s", slot, self->ids[to]);
    self->moving_from[slot] = from;
    self->moving_to[slot] = to;
}

static void migrate(cluster *self, int slot, const char *key, size_t length)
{
    int port = server_port(self->nodes[self->moving_to[slot]]);
    server *from = self->nodes[self->moving_from[slot]];
    redisReply *reply;
    if (self->password)
        reply = server_command(from, "MIGRATE 127.0.0.1 %d %s 0 10000 AUTH %s KEYS %b", port, "", self->password, key,
                               length);
    else
        reply = server_command(from, "MIGRATE 127.0.0.1 %d %b 0 10000", port, key, length);
    cr_assert(reply->type == REDIS_REPLY_STATUS, "MIGRATE %s: %s", key, reply->str);
    freeReplyObject(reply);
}

void cluster_move_key(cluster *self, const char *key)
{
    migrate(self, cluster_slot(key), key, strlen(key));
}

void cluster_move_keys(cluster *self, int slot)
{
    server *from = self->nodes[self->moving_from[slot]];
    redisReply *keys;
    while ((keys = server_command(from, "CLUSTER GETKEYSINSLOT %d 100", slot))->elements) {
        for (size_t i = 0; i < keys->elements; i++)
            migrate(self, slot, keys->element[i]->str, keys->element[i]->len);
        freeReplyObject(keys);
    }
    freeReplyObject(keys);
}

/* The new one first: it takes an epoch of its own, by which others know that it is right. */
void cluster_move_end(cluster *self, int slot)
{
    int from = self->moving_from[slot], to = self->moving_to[slot];
    cluster_tell(self, to, "CLUSTER SETSLOT %d NODE %s", slot, self->ids[to]);
    cluster_tell(self, from, "CLUSTER SETSLOT %d NODE %s", slot, self->ids[to]);
    cluster_await_owner(self, slot, to);
}

void cluster_move(cluster *self, int slot, int to)
{
    cluster_move_begin(self, slot, to);
    cluster_move_keys(self, slot);
    cluster_move_end(self, slot);
}

/* A message that was under way when its sender forgot the slot may bring it back elsewhere. */
void cluster_uncover(cluster *self, int slot)
{
    int owner = cluster_serving_slot(self, slot);
    cr_assert(owner >= 0, "slot %d is not served", slot);
    cluster_tell(self, owner, "CLUSTER DELSLOTS %d", slot);
    int64_t end_ms = limit_end_ms(CLUSTER_WAIT_MS);
    for (bool known = true; known; pass_ms(SERVER_LOOK_MS)) {
        cr_assert(now_ms() < end_ms, "slot %d stays known", slot);
        known = false;
        for (int i = 0; i < self->count; i++) {
            if (!cluster_has(self, i) || cluster_owner_of(self, i, slot) < 0)
                continue;
            known = true;
            freeReplyObject(server_command(self->nodes[i], "CLUSTER DELSLOTS %d", slot));
        }
    }
}

void cluster_cover(cluster *self, int slot, int node)
{
    cluster_tell(self, node, "CLUSTER ADDSLOTS %d", slot);
    cluster_await_owner(self, slot, node);
    cr_assert(cluster_await_settled(self, CLUSTER_WAIT_MS), "the cluster is not well again");
}
