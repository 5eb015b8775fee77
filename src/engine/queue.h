/* Queue: the local waiters for one name.
 *
 * The first waiter of a queue is its queue leader and asks the server for all, except where waiters queue on the
 * server. Every function here expects the engine's mutex to be held. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_QUEUE_H
#define RLI_QUEUE_H

#include "engine/entry.h"

typedef struct rli_waiter {
    struct rli_waiter *next, *previous;
    rli_session *session; /* of the owner that it waits for */
    rli_parker *parker;
    int64_t queued_ms;
    bool queue_leader; /* it asks the server for all (glossary) */
    /* Ask now, whatever the place in the queue: for example, because its owner has the lock by now. */
    bool asks_now;
    /* Ask whether the session has the lock already by a late request, because another local waiter was refused. */
    bool prompted;
    bool notified; /* a hold is kept for it (local_handoff.h) */
    /* A hold was kept for it, but another thread took that first: the next kept hold is for this waiter. */
    bool missed;
    bool handed; /* it has the lock: the releasing thread handed it over */
    bool asleep; /* its thread may be given the lead of a pipeline, which then is in `lead` */
    /* Its wake-up as queue leader is deferred: it wakes by itself in a moment. */
    bool deferred;
    /* It hears its client's own channel: it may be registered on the server. */
    bool hears;
    /* It needs no request of the queue leader: it has asked itself, or has let the leader ask (queued.h). */
    bool has_asked;
    bool ended; /* removed from the queue, because the server is out of reach */
    /* The lead of a pipeline (handoff.h), on the thread's stack; NULL: the operation has no thread. */
    rli_lead *lead;
    char *message; /* why its wait ends, on the heap; NULL: not known, or out of memory for it */
} rli_waiter;

/* Appends the waiter. If it is alone in the queue, it is the queue leader. */
void rli_queue_join(rli_queue *queue, rli_waiter *waiter, rli_session *session, rli_parker *parker);
/* Appends the waiter to a queue without a leader, where each waiter asks for itself. */
void rli_queue_join_without_leader(rli_queue *queue, rli_waiter *waiter, rli_session *session, rli_parker *parker);
/* Removes the waiter. If it was the queue leader, the next one becomes queue leader and asks as soon as the wake
 * batch ends, so that no wake-up is lost. */
void rli_queue_leave(rli_queue *queue, rli_waiter *waiter);
/* Notes that the server has answered an acquire for the name, which was sent then. */
void rli_queue_note_answer(rli_entry *entry, int64_t sent_ms);
/* Wakes the first waiter if its wake-up is deferred. Call it when the lock is about to be freed for everybody. */
void rli_queue_wake_deferred(rli_queue *queue);
/* Lets the other waiters of a session ask, because the session has the lock now. */
void rli_queue_owner_granted(rli_entry *entry, const rli_session *session);
/* Lets the first waiter of a session ask, which then listens. */
void rli_queue_let_one_listen(rli_entry *entry, const rli_session *session);
/* Lets waiters whose own request is in doubt ask, of a group lock also those for other values that share one with it,
 * because the server refused the session `denied`: one of them may hold the lock by a request that ran late. Not for a
 * refused waiter that was itself prompted in this way: two of them would prompt each other for ever. */
void rli_queue_let_doubtful_ask(const struct rli_engine *engine, rli_entry *entry, rli_session *denied);
/* Lets the queue leaders ask, of a group lock also those for other values that share one with it, because the server no
 * longer has a hold of this client: nobody tells waiters when a key is deleted, and what they were told of its time to
 * live is no longer true. */
void rli_queue_let_leaders_ask(const struct rli_engine *engine, rli_entry *entry);
/* Ends the waits that began before `failed_ms`, since when the queue leader has found the server out of reach.
 * `message` is copied. */
void rli_queue_outage(rli_queue *queue, int64_t failed_ms, const char *message);

#endif
