/* The queue of one name's waiters in this process: the first talks to the server for all, unless they
 * queue on the server. Guarded by the engine's mutex, which every function expects to be held. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_QUEUE_H
#define RLI_QUEUE_H

#include "engine/holds.h"

typedef struct rli_waiter {
    struct rli_waiter *next, *previous;
    rli_session *session; /* the owner it waits for */
    rli_parker *parker;
    int64_t queued_ms;
    bool leader;       /* first of the queue: asks the server */
    bool look;         /* its owner has the lock by now: ask, whatever the place */
    bool prompted;     /* to look whether it has the lock itself, since another here was refused */
    bool called;       /* a hold was kept for it to take (local_handoff.h) */
    bool missed;       /* another took it first: the next one is this waiter's */
    bool handed;       /* it has the lock: who released it has handed it over */
    bool asleep;       /* its thread may be given the lead of a pipeline… */
    rli_lead lead;     /* …which then is this (handoff.h) */
    bool deferred;     /* as queue leader it need not be woken at once: it looks by itself in a moment */
    bool ended;        /* taken out of the queue: the server is out of reach */
    char message[256]; /* why, when ended */
} rli_waiter;

/* Queues at the end; alone there, it is the queue leader. */
void rli_queue_join(rli_queue *queue, rli_waiter *waiter, rli_session *session, rli_parker *parker);
/* The same where each asks for itself: there is no queue leader. */
void rli_queue_join_apart(rli_queue *queue, rli_waiter *waiter, rli_session *session, rli_parker *parker);
/* Leaves; a queue leader makes the next one queue leader, who asks as soon as the wake batch ends, so that no wake-up is lost. */
void rli_queue_leave(rli_queue *queue, rli_waiter *waiter, rli_wake_batch *batch);
/* The lock is about to be freed for anybody: a first one that dozes wakes, to hear of it. */
void rli_queue_rouse(rli_queue *queue);
/* The session has the lock: its other waiters may ask, too. */
void rli_queue_owner_granted(rli_entry *entry, const rli_session *session);
/* Somebody holds the lock: it may be a waiter here, by a request of its own that ran late. Not for a refusal of one that
 * was let look itself: two of them would have each other ask, over and over. */
void rli_queue_let_doubtful_look(rli_entry *entry, const rli_session *denied);
/* The queue leader found the server out of reach since `failed_ms`: ends the waits queued before. */
void rli_queue_outage(rli_queue *queue, int64_t failed_ms, const char *message);

#endif
