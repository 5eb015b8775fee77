/* Nodes that leave the test's cluster, and clusters that are made of its nodes. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/cluster_parts.h"
#include "tests/support/event.h"
#include "tests/support/test.h"

#include <stdio.h>
#include <stdlib.h>

/* Its memory of the cluster, its keys and its name are gone. */
static void reset(cluster *self, int node)
{
    cluster_self own = cluster_ask_self(self, node);
    if (own.master)
        cluster_tell(self, node, "FLUSHALL");
    free(own.slots);
    cluster_tell(self, node, "CLUSTER RESET HARD");
    cluster_ask_id(self, node);
}

void cluster_leave(cluster *self, int node, int heir)
{
    bool had[CLUSTER_SLOTS];
    char id[CLUSTER_ID + 1];
    cluster_self own = cluster_ask_self(self, node);
    for (int slot = 0; slot < CLUSTER_SLOTS; slot++)
        had[slot] = cluster_has_slot(&own, slot);
    free(own.slots);
    snprintf(id, sizeof id, "%s", self->ids[node]);
    reset(self, node);
    self->left[node] = true;
    cluster_each(self, "CLUSTER FORGET %s", id);
    for (int first = 0, last; first < CLUSTER_SLOTS; first = last + 1) {
        last = first;
        while (had[first] && last + 1 < CLUSTER_SLOTS && had[last + 1])
            last++;
        if (had[first])
            cluster_add_slots(self, heir, first, last);
    }
    cr_assert(cluster_await_settled(self, CLUSTER_WAIT_MS), "the cluster does not settle without the node that left");
}

void cluster_join(cluster *self, int node)
{
    cr_assert(self->left[node], "node %d is in the cluster", node);
    for (int i = 0; i < self->count; i++) {
        if (cluster_has(self, i))
            cluster_tell(self, i, "CLUSTER MEET 127.0.0.1 %d", server_port(self->nodes[node]));
    }
    self->left[node] = false;
    cr_assert(cluster_await_settled(self, CLUSTER_WAIT_MS), "the cluster does not settle with the node that joins");
}

void cluster_found(cluster *self, int node)
{
    cr_assert(self->left[node], "node %d is in the cluster", node);
    cluster_add_slots(self, node, 0, CLUSTER_SLOTS - 1);
    for (int64_t end_ms = limit_end_ms(CLUSTER_WAIT_MS); !cluster_is_well(self, node); pass_ms(SERVER_LOOK_MS))
        cr_assert(now_ms() < end_ms, "the cluster of one node does not come up");
}

void cluster_secede(cluster *self, int node)
{
    reset(self, node);
    self->left[node] = true;
    cluster_tell(self, node, "CLUSTER SET-CONFIG-EPOCH 1000");
    cluster_found(self, node);
}

void cluster_remake(cluster *self)
{
    self->masters = self->count;
    for (int i = 0; i < self->count; i++) {
        self->left[i] = !server_is_up(self->nodes[i]);
        if (!self->left[i])
            reset(self, i);
    }
    cluster_introduce(self);
    cluster_share_slots(self);
    cr_assert(cluster_await_settled(self, CLUSTER_WAIT_MS), "the new cluster does not come up");
}
