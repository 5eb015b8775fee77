/* Pending requests: the requests of a pipe, in the order in which they were queued and are answered. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_PENDING_H
#define RLI_PENDING_H

#include "base/park.h"
#include "redis/pipeline/pipeline.h"

/* One request. It is on its caller's stack, or, if posted, in memory that its poster provides. The pipeline's mutex
 * guards it. Once it is popped, only the thread that popped it may touch it, without the mutex, until it has finished
 * it. */
typedef struct rli_pending {
    struct rli_pending *next, *previous;
    rli_parker *parker; /* NULL: no thread waits, because it was posted or its caller gave up */
    /* For a posted request: called once, by any thread and possibly with the pipeline's mutex held, when the outcome
     * is known. It then owns the request and its reply. NULL: the caller is woken instead; if that gave up, the reply
     * is dropped. */
    void (*done)(struct rli_pending *pending);
    rli_witness *witness; /* another thread that waits for the answer; NULL: none */
    int64_t queued_ms;    /* when it was queued, before any byte was sent */
    int64_t since_ms;     /* queued_ms plus the time that replicas may take to acknowledge */
    size_t bytes;         /* its size in the queued bytes */
    unsigned place;       /* the place for rli_park_in_group; neighbours in the queue have neighbouring places */
    bool asking;          /* the next reply is the one to its ASKING */
    const char *garbled;  /* see rli_answer; valid once it is finished */
    bool left;            /* see rli_answer; valid once it is finished or given up */
    bool popped;          /* removed from the list; its outcome is being delivered */
    redisReply *reply;    /* may be set before the request is finished */
    int asked, synced;    /* see rli_answer */
    rli_outcome outcome;  /* valid once it is finished */
} rli_pending;

/* News for the caller's parker. */
enum {
    RLI_FINISHED = RLI_NEWS, /* the outcome is set, and no other thread touches the request any more */
    RLI_LEAD = RLI_NEWS << 1 /* the caller was made the leader */
};

typedef struct rli_pending_list {
    rli_pending *first, *last; /* oldest first */
    int count;
} rli_pending_list;

void rli_pending_append(rli_pending_list *pending_list, rli_pending *pending);
void rli_pending_remove(rli_pending_list *pending_list, rli_pending *pending);
/* Removes the oldest request and marks it popped. NULL: the list is empty. */
rli_pending *rli_pending_pop(rli_pending_list *pending_list);
/* Replaces `pending` by a copy on the heap without a caller, and returns the copy: it takes the reply and drops it.
 * NULL: out of memory. */
rli_pending *rli_pending_replace(rli_pending_list *pending_list, const rli_pending *pending);

/* Whether its caller waits for it without a thread. */
bool rli_pending_is_threadless(const rli_pending *pending);
/* Whether the caller has been told the outcome. */
bool rli_pending_finished(const rli_pending *pending);
/* Delivers the outcome to the caller or to `done`, or frees a request that has neither. The caller may return before
 * this function does; if it sleeps, it sleeps until `batch` is ended. */
void rli_pending_finish(rli_pending *pending, rli_outcome outcome, rli_wake_batch *batch);

#endif
