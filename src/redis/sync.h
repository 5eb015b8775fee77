/* Sync: how a synced wire has replicas confirm what was written on it. One WAIT follows each batch
 * of requests, as Redisson's batches end with one. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_SYNC_H
#define RLI_SYNC_H

#include "redis/buffer.h"

#include <hiredis/hiredis.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Instead of a number of replicas that confirmed. */
enum {
    RLI_SYNC_NONE = -1,   /* none was asked: the lane is not a synced one, or the server has no replicas */
    RLI_SYNC_REFUSED = -2 /* the server has no WAIT, or the user may not use it: Redisson then does without */
};

typedef struct rli_sync {
    const atomic_int *replicas; /* of the server, as last known; ≤ 0: none to ask; NULL: not synced */
    int64_t timeout_ms;         /* slavesSyncTimeout */
    int asked;                  /* by the WAIT under way; 0: there is none */
    bool refused;
} rli_sync;

/* Appends WAIT for all replicas, when there are any. False: out of memory. */
bool rli_sync_ask(rli_sync *sync, rli_buffer *buffer);
/* What became of what was sent without a WAIT. */
int rli_sync_without(const rli_sync *sync);
/* Reads the answer to WAIT, which is over with that: how many replicas confirmed. */
int rli_sync_hear(rli_sync *sync, const redisReply *reply);
/* How long a request queued now may take longer for it: while a WAIT is under way, also by that one. */
int64_t rli_sync_time_ms(const rli_sync *sync);

#endif
