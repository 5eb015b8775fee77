/* Slots: the requests under way on a wire, in the order in which they were queued and are answered. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_PENDING_H
#define RLI_PENDING_H

#include "base/park.h"
#include "redis/pipeline/pipeline.h"

/* One request, on its caller's stack, or wherever who posted it keeps it. Guarded by the pipeline's mutex, except where
 * it says otherwise; once it is popped, the thread that did so alone may touch it, until it has finished it. */
typedef struct rli_pending {
    struct rli_pending *next, *previous;
    rli_parker *parker; /* NULL: nobody waits for it: it was posted, or its caller has given up */
    /* Posted: is told once that it has its outcome, and has the slot and its reply from then on; by any thread, which
     * may hold the pipeline's mutex. NULL: its caller is woken, or has given up, and the reply is for nobody. */
    void (*done)(struct rli_pending *pending);
    rli_witness *witness; /* NULL: there is none */
    int64_t queued_ms;    /* before any byte of it left */
    int64_t since_ms;     /* the same, later by what replicas may take to confirm it */
    size_t bytes;         /* of it, among what is queued */
    unsigned place;       /* where its caller sleeps, beside those of its neighbours */
    bool asking;          /* the next answer is that to its ASKING */
    const char *garbled;  /* as in rli_answer; known when it is finished */
    bool left;            /* as in rli_answer; known when it is finished or given up */
    bool popped;          /* taken off the queue, its reply is being handed over */
    redisReply *reply;    /* may have come before it is finished */
    int asked, synced;    /* as in rli_answer */
    rli_outcome outcome;  /* when it is finished */
} rli_pending;

/* What its caller's parker may be told. */
enum {
    RLI_FINISHED = RLI_NEWS, /* it has its outcome; nobody touches it any more */
    RLI_LEAD = RLI_NEWS << 1 /* it was handed the lead */
};

typedef struct rli_pending_list {
    rli_pending *head, *tail; /* the oldest first */
    int count;
} rli_pending_list;

void rli_pending_append(rli_pending_list *pending_list, rli_pending *pending);
void rli_pending_remove(rli_pending_list *pending_list, rli_pending *pending);
/* The oldest, popped; NULL: none. */
rli_pending *rli_pending_pop(rli_pending_list *pending_list);
/* Puts a copy that is for nobody into the place of `slot`. NULL: out of memory. */
rli_pending *rli_pending_replace(rli_pending_list *pending_list, const rli_pending *pending);

bool rli_pending_finished(const rli_pending *pending);
/* Hands its outcome to its caller, who may have returned by the time that this does, or sleeps until the wake batch ends. */
void rli_pending_finish(rli_pending *pending, rli_outcome outcome, rli_wake_batch *batch);

#endif
