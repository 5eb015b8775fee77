/* Object wait: a wait for a semaphore or latch, as a blocking or as an async call. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_OBJECT_WAIT_H
#define RLI_OBJECT_WAIT_H

#include "client/async.h"
#include "engine/wait.h"
#include "locks/object.h"

/* How far a wait is. object_wait.c has the table of the legal transitions. */
typedef enum rli_waiting_stage {
    RLI_WAITING_BEGINS,
    RLI_WAITING_ASKS,    /* the first request is under way */
    RLI_WAITING_LISTENS, /* the wait loop runs */
    RLI_WAITING_STAGES
} rli_waiting_stage;

/* One wait under way. */
typedef struct rli_waiting {
    /* First, because the wait loop passes it to `ask`. The caller sets `ask`, which keeps what it needs while a request
     * is under way in the operation's frame. */
    rli_wait wait;
    rli_waiting_stage stage;
    /* The caller sets these. */
    rli_object *object;
    int64_t wait_ms; /* 0 or less: asks once */
    bool nothing;    /* there is nothing to wait for: RLOCK_OK */
    /* Writes why it was denied, and returns RLOCK_TIMEOUT. Called when the wait has ended with that: after the last
     * answer, the thread of an async call may have carried out other operations. */
    rlock_status (*denied)(const struct rli_waiting *waiting);
    int64_t count;  /* for `denied`: of the object, as the last answer said */
    bool was_there; /* an answer has said that the object exists */
    /* Called once when the wait has ended, or could not begin. NULL: nothing to do. */
    void (*end)(struct rli_waiting *waiting, rlock_status status);
} rli_waiting;

/* Asks once; if the answer is "not yet" (RLOCK_TIMEOUT), subscribes to the object's channel and asks again as
 * the wait loop decides, for up to wait_ms. Returns what the last `ask` returned; RLOCK_CANCELLED, RLOCK_CLOSED,
 * RLOCK_FORKED; and what rli_wait_join and rli_wait_run return. */
rlock_status rli_object_wait(rli_waiting *waiting, rlock_cancel *cancel);

/* Writes that an object which must have been made does not exist, or was deleted since an earlier answer, and that
 * `maker`, a function, makes it. Returns `status`. */
rlock_status rli_object_wait_missing(const rli_waiting *waiting, rlock_status status, const char *maker);

/* An async wait. The memory of an async call begins with it, and has its rli_waiting further on. */
typedef struct rli_async_waiting {
    rli_async async;      /* first */
    rli_waiting *waiting; /* in the same allocation */
} rli_async_waiting;

/* Allocates an async wait of `size` bytes, zero otherwise. The caller then prepares the rli_waiting and calls
 * rli_object_wait_start. RLOCK_OK, RLOCK_NO_MEMORY, RLOCK_CLOSED, RLOCK_FORKED. */
rlock_status rli_object_wait_new(void **made, size_t size, const rli_object *object, rlock_cancel *cancel,
                                 rlock_result_fn *fn, void *arg);
/* Begins it: from here on it may end, and be freed, at any time. */
void rli_object_wait_start(rli_async_waiting *self, rli_waiting *waiting);

#endif
