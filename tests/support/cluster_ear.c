/* What is published in the test's cluster. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/cluster_parts.h"
#include "tests/support/event.h"
#include "tests/support/test.h"

/* Its ear hears plain messages, too, which come by every node. */
void cluster_listen(cluster *self, const char *channel)
{
    server_listen_shard(cluster_at(self, channel), channel);
}

bool cluster_heard(cluster *self, const char *channel, const char *message, int64_t ms)
{
    for (int64_t end_ms = limit_end_ms(ms);; pass_ms(1)) {
        for (int i = 0; i < self->count; i++) {
            if (server_heard(self->nodes[i], channel, message, 0))
                return true;
        }
        if (now_ms() >= end_ms)
            return false;
    }
}

bool cluster_wait_subscribers(cluster *self, const char *channel, int64_t count, int64_t ms)
{
    for (int64_t end_ms = limit_end_ms(ms);; pass_ms(2)) {
        int node = cluster_serving(self, channel);
        int64_t now = -1;
        if (node >= 0) {
            server *at = self->nodes[node];
            redisReply *reply = server_knows(at, "SSUBSCRIBE") ? server_command(at, "PUBSUB SHARDNUMSUB %s", channel)
                                                               : server_command(at, "PUBSUB NUMSUB %s", channel);
            now = reply->elements == 2 ? reply->element[1]->integer : -1;
            freeReplyObject(reply);
        }
        if (now == count || now_ms() >= end_ms)
            return now == count;
    }
}
