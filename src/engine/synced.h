/* Synced grant: a grant that at least one replica must confirm, where the server has replicas.
 *
 * A grant that no replica confirmed could be lost with the master while its owner relies on it. So it is taken back
 * and requested again. Follows Redisson's checkLockSyncedSlaves and slavesSyncTimeout. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_SYNCED_H
#define RLI_SYNCED_H

#include "redis/call.h"

/* A request that grants something. The functions prepare their call, or read a reply, with `what`. */
typedef struct rli_grantable {
    void (*ask)(rli_call *call, const void *what);
    bool (*granted)(const redisReply *reply, const void *what);
    void (*take_back)(rli_call *call, const void *what);
    const void *what;
    bool adds; /* each request that is granted takes more, so it is not repeated while an earlier grant may remain */
} rli_grantable;

/* How far such a request is. synced.c has the table of the legal transitions. */
typedef enum rli_synced_stage {
    RLI_SYNCED_ASKS,       /* the request is under way */
    RLI_SYNCED_TAKES_BACK, /* it was granted, and no replica confirmed that */
    RLI_SYNCED_PAUSES,     /* it is requested again after this pause */
    RLI_SYNCED_STAGES
} rli_synced_stage;

typedef struct rli_synced {
    rli_synced_stage stage;
    bool begun;
    int done, left; /* how often it was granted, and how many of these grants may still be there */
    int late;       /* how many requests that take it back were not answered, and may run when it is granted anew */
    rli_pause pause;
    rli_call back;        /* the request that takes it back */
    int64_t deadline_ms;  /* the operation's own, which it gets again afterwards */
    rlock_cancel *cancel; /* likewise */
} rli_synced;

void rli_synced_begin(rli_synced *synced);

/* Runs the request until a grant of it is confirmed. The caller clears `call`, which holds the last request. Returns as
 * rli_call_run, or RLOCK_NOT_SYNCED: after all retries no replica had confirmed the grant, and it was taken back.
 * RLI_WAITING: call it again with the same arguments; `call` and `synced` must stay where they are. call->unanswered
 * also counts grants that may remain because taking them back went unanswered, and requests for that which may still
 * run: after such a one it is not requested again, since that would take back the new grant. */
rlock_status rli_synced_run(rli_synced *synced, const rli_grantable *grantable, rli_call *call, rli_topology *topology,
                            rli_operation *op, rli_route *route);

/* Returns how much longer than others such a request may take at that server now, ms. */
int64_t rli_synced_patience_ms(const rli_topology *topology, const char *key, size_t length);

#endif
