/* Wait: the one wait loop of all objects, which asks, sleeps until a message, the TTL or the deadline, and asks
 * again. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_WAIT_H
#define RLI_WAIT_H

#include "base/operation.h"
#include "engine/news.h"
#include "redis/topology/topology.h"

#include <stddef.h>

/* How far a wait is. wait.c has the table of the legal transitions. */
typedef enum rli_wait_stage {
    RLI_WAIT_BEGINS,
    RLI_WAIT_LOOKS,  /* whether another node serves the object by now, and whether the subscription stands */
    RLI_WAIT_ASKS,   /* a request is under way */
    RLI_WAIT_SLEEPS, /* until there is a reason to ask again */
    RLI_WAIT_STAGES
} rli_wait_stage;

typedef struct rli_wait {
    rli_wait_stage stage;
    unsigned slot;
    rli_operation *op;
    rli_topology *topology; /* finds the node that serves the object */
    /* from the node that serves the object; set by rli_wait_join. Not joined: only time ends a sleep */
    rli_news news;
    int64_t deadline_ms; /* RLI_NEVER: no limit */
    /* Asks the server once. RLI_WAITING: it is called again, as often as it returns that. RLOCK_TIMEOUT: not yet, and
     * *again_ms is when to ask again without a message (RLI_NEVER: only after a message). Any other status ends the
     * wait. */
    rlock_status (*ask)(struct rli_wait *wait, int64_t *again_ms);
    /* Returns whether this process itself has a reason to ask now. NULL: it never has. */
    bool (*has_reason)(struct rli_wait *wait);
    /* By then the subscription must be confirmed; RLI_NEVER: it need not be, or it was. */
    int64_t confirm_by_ms;
    int64_t until_ms;    /* RLI_WAIT_SLEEPS: when it ends without a reason */
    rli_leaving leaving; /* when to unsubscribe from the channel that nobody else uses */
    bool heard;          /* a message or other news came since the last request */
    bool asked;          /* the caller asked just before the wait began… */
    int64_t again_ms;    /* …and this is when to ask again */
} rli_wait;

/* Listens to the source at the node that serves the key, until rli_wait_leave. Does not wait for the confirmation.
 * RLOCK_OK, RLOCK_NO_MEMORY, RLOCK_CLOSED; RLOCK_UNAVAILABLE: no node serves the key. */
rlock_status rli_wait_join(rli_wait *wait, const char *key, size_t key_length, const rli_source *source);
/* Leaves what it listens to, if anything. */
void rli_wait_leave(rli_wait *wait);
/* As rli_wait_join, and listens from now on, if the source is a channel that the client is subscribed to already. Else
 * it does nothing. So nothing is missed from the first request on. */
void rli_wait_rejoin(rli_wait *wait, const char *key, size_t key_length, const rli_source *source);

/* Runs the loop. RLI_WAITING: the operation has no thread and must wait; call it again. Otherwise returns what the last
 * `ask` answered; RLOCK_TIMEOUT: the deadline passed; RLOCK_UNAVAILABLE: a wait without a deadline did not get its
 * subscription confirmed in time; RLOCK_SERVER: the server refused the subscription; RLOCK_CANCELLED, RLOCK_CLOSED. */
rlock_status rli_wait_run(rli_wait *wait);

/* Bounds the next request of `wait`, for an operation that waits wait_ms (0 or less: asks once). The request may
 * take until the wait ends, and at least the configured timeout from now. So a server that stalls for less than that
 * fails no wait, however short. more_ms: added to that least time when the server has a reason to take longer. */
void rli_wait_limit_request(const rli_wait *wait, int64_t wait_ms, int64_t more_ms);

#endif
