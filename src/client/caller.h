/* A caller: one public call under way, from its entry to its return. It carries down through the
 * layers where its thread sleeps and what may end its waiting. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_CALLER_H
#define RLI_CALLER_H

#include "base/cancel.h"
#include "base/clock.h"
#include "base/park.h"

#include <rlock/client.h>
#include <stdatomic.h>

/* A place in a list of calls that wait for somebody to be done; guarded as that list is. */
typedef struct rli_turn {
    struct rli_turn *next;
    rli_parker *parker;
} rli_turn;

void rli_turn_join(rli_turn **turns, rli_turn *own);
void rli_turn_leave(rli_turn **turns, rli_turn *own);
void rli_turn_wake_all(rli_turn *turns);

typedef struct rli_caller {
    rlock_client *client;  /* kept */
    const atomic_bool *closed; /* of the client */
    rlock_cancel *cancel;  /* NULL: cannot be cancelled */
    int64_t deadline_ms;   /* no request is waited for beyond it; RLI_NEVER: attempts bound it */
    int64_t attempts_until_ms; /* no attempt but the first is begun after it; RLI_NEVER: likewise */
    rli_parker parker;
    rli_cancel_watch watch;
    rli_turn turn;         /* a call waits at one place at a time */
    struct rli_caller *next, *previous; /* in client->callers while it may sleep; its mutex */
    bool listed;
    int cancel_state;      /* of the thread, before the call */
} rli_caller;

/* Begins a call on `client`. RLOCK_OK: end it with rli_caller_end. RLOCK_FORKED, RLOCK_CLOSED:
 * nothing begun. Keeps the thread from being cancelled in between: a cancelled leader would strand
 * the others on its lane. */
rlock_status rli_caller_begin(rli_caller *caller, rlock_client *client, rlock_cancel *cancel);
void rli_caller_end(rli_caller *caller);

/* Sleeps until unparked, cancelled, the client's closing, or `until_ms`. Callers look again. */
void rli_caller_sleep(rli_caller *caller, int64_t until_ms);

/* Until when another attempt may be begun. */
static inline int64_t rli_caller_attempts_until(const rli_caller *caller)
{
    return rli_earlier(caller->deadline_ms, caller->attempts_until_ms);
}

/* RLOCK_OK, or RLOCK_CANCELLED or RLOCK_CLOSED with its message. */
rlock_status rli_caller_check(rli_caller *caller);

#endif
