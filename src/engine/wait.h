/* The one wait loop of all objects: ask, sleep until a message, the TTL or the deadline, ask again,
 * give up cleanly. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_WAIT_H
#define RLI_WAIT_H

#include "base/operation.h"
#include "redis/node.h"
#include "redis/topology/topology.h"

#include <stddef.h>

typedef struct rli_wait {
    rli_operation *op;
    rli_topology *topology; /* where the object is looked for */
    /* Of the node that serves the object, and its channel; rli_wait_join. NULL: nobody sends
     * messages, only time passes. */
    rli_subscriber *subscriber;
    rli_channel *channel;
    rli_node *node; /* that one, held while there is a channel */
    bool alone;     /* nobody else uses the channel, or counts who listens when the wait is over */
    unsigned slot;
    int64_t deadline_ms; /* RLI_NEVER: as long as it takes */
    /* Asks the server once. RLOCK_TIMEOUT: not yet; *again_ms: when to ask again without a
     * message, RLI_NEVER: only then. Anything else ends the wait. */
    rlock_status (*ask)(struct rli_wait *wait, int64_t *again_ms);
    /* Whether something in this process is a reason to ask now; NULL: nothing ever is. */
    bool (*look)(struct rli_wait *wait);
    bool heard;       /* something came from the channel since the last question */
    bool asked;       /* the first question was asked just before the wait… */
    int64_t again_ms; /* …and this was its answer */
} rli_wait;

/* Subscribes to a channel where the key is served, until rli_wait_leave. RLOCK_OK, RLOCK_NO_MEMORY,
 * RLOCK_CLOSED, RLOCK_UNAVAILABLE: nobody serves it. */
rlock_status rli_wait_join(rli_wait *wait, const char *key, size_t key_length, const char *channel,
                           size_t channel_length);
void rli_wait_leave(rli_wait *wait);

/* What the last `ask` answered; RLOCK_TIMEOUT at the deadline; RLOCK_UNAVAILABLE: waiting without
 * end, and the subscription was not confirmed in its time; RLOCK_CANCELLED, RLOCK_CLOSED. */
rlock_status rli_wait_run(rli_wait *wait);

/* Bounds the question that `wait` is about to ask, for a call that waits wait_ms (0 or less: asks once). It may take until
 * the wait ends, and `answer_ms` from now at least (RLI_NEVER: the configured timeout), so that a server that stalls
 * for less than that fails no wait, however short; and `more_ms` longer where the server has reason to take longer. */
void rli_wait_bound(const rli_wait *wait, int64_t wait_ms, int64_t answer_ms, int64_t more_ms);

#endif
