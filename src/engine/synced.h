/* Synced: a grant that replicas have to confirm, where the server has any. One that not a single replica
 * confirmed could be lost with the master while its owner relies on it: it is taken back and asked for
 * again. Redisson's checkLockSyncedSlaves and slavesSyncTimeout. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_SYNCED_H
#define RLI_SYNCED_H

#include "redis/call.h"

/* What is asked for; the functions prepare their call from `what`. */
typedef struct rli_grantable {
    void (*ask)(rli_call *call, const void *what);
    bool (*granted)(const redisReply *reply, const void *what);
    void (*take_back)(rli_call *call, const void *what);
    const void *what;
} rli_grantable;

/* Prepares and runs the request; `call` is to be cleared. What rli_call_run answers, with call->sent_ms of the
 * last one; RLOCK_NOT_SYNCED: as often as retries go, no replica confirmed it, and all was taken back.
 * call->unanswered counts a grant that may stand yet, too, because taking it back was not answered. */
rlock_status rli_synced_run(const rli_grantable *grantable, rli_call *call, rli_topology *topology, rli_operation *op,
                            rli_route *route);

/* How much longer than others such a request may take there now, ms. */
int64_t rli_synced_patience_ms(const rli_topology *topology, const char *key, size_t length);

#endif
