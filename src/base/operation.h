/* An operation: one public call under way, from its entry to its end.
 *
 * A blocking call is carried out by its thread, which sleeps where the operation has to wait. An async call has no
 * thread: where it has to wait, the functions that carry it out return RLI_WAITING, and are called again, with the same
 * arguments, after its parker was woken or at parker->wake_ms. They then go on where they were. So all functions that
 * may wait are written once, for both. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_OPERATION_H
#define RLI_OPERATION_H

#include "base/cancel.h"
#include "base/clock.h"
#include "base/gate.h"
#include "base/park.h"

#include <rlock/client.h>
#include <rlock/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Not a status for programs: the operation has no thread and has to wait. */
#define RLI_WAITING ((rlock_status)1000)

/* An operation's entry in a list of operations that wait for another one to finish. The mutex of that list guards
 * it. */
typedef struct rli_turn {
    struct rli_turn *next;
    rli_parker *parker;
    int64_t first_until_ms; /* of a session's turns: until then, threads that came later let it go first */
    bool joined;
} rli_turn;

/* Add an entry in front of all others unless it is there, remove it if it is there, and unpark all. Hold the list's
 * mutex. */
void rli_turn_join(rli_turn **turns, rli_turn *own);
void rli_turn_leave(rli_turn **turns, rli_turn *own);
void rli_turn_wake_all(rli_turn *turns);

typedef struct rli_operation {
    rli_gate *gate; /* the operation holds a reference */
    /* NULL: cannot be cancelled. An operation may set it to NULL while it does what its token must not end. */
    rlock_cancel *cancel;
    rlock_cancel *registered; /* the token that unparks it */
    /* The operation that this one is a part of; NULL: none, or one with a thread. Its end is the part's end, too,
     * unless `outlives_whole`: the part gives something back, which nothing but its own gate may end. */
    struct rli_operation *whole;
    bool outlives_whole;
    bool others_stand_in; /* for a server that is down: there is no pause to wait for it */
    bool connects;        /* false: it uses a connection that is there, and waits for none to be made */
    /* Of the handle that it is for: how long to wait for an answer, and how often to ask. NULL: as the client is
     * configured. */
    const rlock_call_options *call_options;
    /* End of waiting for any request, unless RLI_NEVER: then only the number of attempts limits it. */
    int64_t deadline_ms;
    int64_t attempts_until_ms; /* After this instant no attempt begins but the first. RLI_NEVER: likewise. */
    rli_parker *parker, own;   /* where it waits, mostly its own */
    rli_cancel_watch watch;
    rli_turn turn; /* one is enough: an operation waits in one list at a time */
    rli_sleeper sleeper;
    void *frame;      /* without a thread: see rli_operation_frame */
    int cancel_state; /* the thread's cancel state before the operation */
    bool listed;      /* whether `sleeper` is registered with the gate */
} rli_operation;

/* Begins an operation and takes a reference to `gate`. On RLOCK_OK, end it with rli_operation_end on the same thread;
 * on RLOCK_FORKED or RLOCK_CLOSED nothing has begun.
 *
 * Disables cancellation of the thread meanwhile: a cancelled leader would leave the others on its pipeline without
 * one. */
rlock_status rli_operation_begin(rli_operation *op, rli_gate *gate, rlock_cancel *cancel);
/* The same for an operation without a thread, which is put on `ready` when it is woken. Does not touch the thread's
 * cancellation. `ready` must live as long as the operation. */
rlock_status rli_operation_begin_async(rli_operation *op, rli_gate *gate, rlock_cancel *cancel,
                                       struct rli_ready *ready);
/* The same for an operation that is a part of `whole` and waits where that waits: at no time do both wait for
 * different things. `whole` NULL: as rli_operation_begin. */
rlock_status rli_operation_begin_part(rli_operation *op, rli_gate *gate, rlock_cancel *cancel, rli_operation *whole);
/* The same for a part of `whole`, neither of which has a thread, that waits by itself: other parts may wait at the same
 * time. It is put on the list of `parts` when it is woken. `gate` may be closed. */
void rli_operation_begin_among(rli_operation *op, rli_gate *gate, rli_operation *whole, struct rli_parts *parts);

typedef struct rli_preparation {
    void (*prepare)(void *arg); /* NULL: nothing is called */
    void *arg;
} rli_preparation;

/* From now on, this thread calls prepare(arg) whenever it begins an operation that it may sleep in: that sends what the
 * thread has put off, which the operation may wait for. Returns what it called before. */
rli_preparation rli_operation_prepare(rli_preparation preparation);

/* No thread may wake the operation any more, except through its token or the gate. */
void rli_operation_end(rli_operation *op);

static inline bool rli_operation_is_async(const rli_operation *op)
{
    return op->parker->ready;
}

/* Sleeps until unparked, cancelled, the gate closes, or `until_ms`. It may also return early: check the condition
 * again. False: the operation has no thread; return RLI_WAITING, and check again when called again. */
bool rli_operation_sleep(rli_operation *op, int64_t until_ms);

/* Like rli_operation_sleep, for an operation with a thread and with a parker of its own, and also until bytes can be
 * read from the socket `fd`. Returns whether they can, or it has ended. The thread has its gate's bell. */
bool rli_operation_sleep_polling(rli_operation *op, int fd, int64_t until_ms);

/* Returns the memory in which a function that may wait keeps what it needs until it has returned something other than
 * RLI_WAITING: `own`, on the stack, for an operation with a thread; else memory that is allocated now, or was allocated
 * when the function began. *begins: it begins now. NULL: out of memory. End it with rli_operation_end_frame. */
void *rli_operation_frame(rli_operation *op, void *own, size_t size, bool *begins);
void rli_operation_end_frame(rli_operation *op);

/* The time that one of its requests has for the answer, where the client's is client_ms. */
static inline int64_t rli_operation_timeout_ms(const rli_operation *op, int64_t client_ms)
{
    return op->call_options && op->call_options->timeout_ms >= 0 ? op->call_options->timeout_ms : client_ms;
}

/* Bounds the next request: it may take until end_ms, and at least answer_ms from now. */
void rli_operation_limit(rli_operation *op, int64_t end_ms, int64_t answer_ms);

/* The instant after which no further attempt may begin. */
static inline int64_t rli_operation_attempts_until(const rli_operation *op)
{
    return rli_earlier(op->deadline_ms, op->attempts_until_ms);
}

/* Whether a request of the operation that is under way need not be waited for: its token has fired, or the client of
 * the whole was closed. */
bool rli_operation_is_abandoned(const rli_operation *op);
/* RLOCK_OK, or RLOCK_CANCELLED or RLOCK_CLOSED with the error message set. */
rlock_status rli_operation_check(rli_operation *op);

#endif
