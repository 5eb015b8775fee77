/* Holds: who in this process holds or wants what. An entry is a name in use here; a session is all
 * that one owner does on that name, from its first attempt until no hold and no attempt is left (session.h: what it
 * holds). All of it is guarded by engine->mutex, which every function here expects to be held. No I/O. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_HOLDS_H
#define RLI_HOLDS_H

#include "base/timer_heap.h"
#include "base/operation.h"
#include "base/table.h"
#include "engine/yield.h"
#include "engine/cold_fields.h"
#include "engine/kind.h"
#include "engine/owner.h"
#include "engine/phase.h"
#include "redis/topology/route.h"

#include <pthread.h>
#include <rlock/lock.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rli_waiter;

/* By what its waiters go: messages, for which one of them asks; their own clocks; the queue on the server. */
typedef enum rli_queueing { RLI_BY_MESSAGE, RLI_BY_SPINNING, RLI_ON_SERVER, RLI_QUEUES } rli_queueing;
typedef struct rli_queue {
    struct rli_waiter *first, *last; /* queue.h */
} rli_queue;

/* The threads that wait for a name here; made when the first one comes. */
typedef struct rli_queues {
    rli_queue of[RLI_QUEUES];    /* by rli_queueing */
    int64_t answered_ms;         /* when the server last answered a question about it */
    struct rli_session *offered; /* the session whose hold waits to be taken (local_handoff.h); NULL: none */
    rli_yield yield;             /* of those that go by messages */
} rli_queues;

/* There may be a million of them: what is rare is in the cold fields. */
typedef struct rli_session {
    rli_link link;
    struct rli_entry *entry;
    struct rli_session *next, *previous; /* in entry->sessions */
    const rli_kind *kind;
    uint64_t number; /* in the wire owner; never used again */
    union {
        rli_life *life;       /* of a thread; kept */
        int64_t owner_number; /* of a named owner, or a thread that is ending */
    };
    union {
        struct {                 /* until it is over */
            int64_t deadline_ms; /* until then it may be relied on */
            rli_timer timer;     /* on the watchdog's timer heap */
        };
        struct {                             /* RLI_OVER */
            struct rli_session *next_over;   /* oldest first, among the sessions that are over */
            struct rli_session *next_report; /* among those to be reported as lost */
            rlock_lost_reason reason;
            int reported_count;
        };
    };
    rli_cold *cold; /* NULL: it is one plain hold, renewed by the watchdog; or over, and no more is known */
    int count;      /* holds; in RLI_OVER: unlocks that are still to be told */
    rli_phase phase : 4;
    bool has_life : 1, named : 1; /* of the owner */
    bool lent : 1;                /* a write hold whose number a read hold of the owner has taken, too */
    bool busy : 1;                /* a request of it is under way */
    bool releasing : 1;           /* that request is its last release */
    bool forced : 1;              /* held when this process began to force the lock open */
    bool renewing : 1;            /* it is in a batch that the watchdog has sent */
    bool queued : 1;              /* it may have a place in the queue on the server */
    bool reporting : 1;           /* its loss is being told */
} rli_session;

typedef struct rli_entry {
    rli_link link;
    rli_route route;          /* of its requests while it is in use */
    rli_session *sessions;    /* all of them, in no order */
    rli_queues *queues;       /* NULL: nobody has waited here */
    unsigned references : 31; /* sessions and calls under way */
    unsigned in_doubt : 1;    /* a first acquire of it went unanswered */
    uint32_t length;
    rli_session own; /* mostly there is one; in use if it has an entry */
    char name[];     /* with the client's prefix */
} rli_entry;

typedef struct rli_engine rli_engine;

void rli_holds_init(rli_engine *engine);
void rli_holds_free(rli_engine *engine); /* every session and entry */

/* The entry for a name, referenced; NULL: out of memory. */
rli_entry *rli_entry_enter(rli_engine *engine, const rli_names *names);
void rli_entry_exit(rli_engine *engine, rli_entry *entry);
/* The entry without a reference, or NULL. */
rli_entry *rli_entry_of(const rli_engine *engine, const rli_names *names);

/* The owner's open session, of the holds that the kind writes; declares it lost first when its
 * deadline has passed. NULL: none. */
rli_session *rli_session_open(rli_engine *engine, rli_entry *entry, const rli_kind *kind, const rli_owner *owner);
/* A session of the owner that is over and has unlocks left to be told of; NULL: none. */
rli_session *rli_session_over(rli_engine *engine, rli_entry *entry, const rli_kind *kind, const rli_owner *owner);
/* The owner's write hold, which its reads may go under; NULL: none. */
rli_session *rli_session_writer(rli_engine *engine, rli_entry *entry, const rli_owner *owner);

/* Room for waiters; false: out of memory. */
bool rli_entry_open_queues(rli_entry *entry);

/* The owner's open session or a new one, with one attempt more; NULL: out of memory. */
rli_session *rli_session_join(rli_engine *engine, rli_entry *entry, const rli_kind *kind, const rli_owner *owner);
/* One attempt more, which keeps the session, and its cold fields. False: out of memory. */
bool rli_session_enter(rli_engine *engine, rli_session *session, bool gives_back);
/* Its one plain hold is over here, without memory for its release: it is not renewed any more. Frees the session. */
void rli_session_forgo(rli_engine *engine, rli_session *session);
/* One attempt less; may end and free the session. */
void rli_session_leave(rli_engine *engine, rli_session *session);
/* Frees the session, or starts its background release, once nothing needs it any more. */
void rli_session_settle(rli_engine *engine, rli_session *session);

/* The session enters the phase, which must be a legal transition from its own. */
void rli_session_become(rli_session *session, rli_phase phase);

rli_owner rli_session_owner(const rli_session *session); /* borrows its life */
int rli_session_attempts(const rli_session *session);

/* It is known what became of its last release. */
void rli_session_forget_async_release(rli_engine *engine, rli_session *session);
/* A release that was no session's, as one by force, told the head of the queue on the server that the lock is free, and
 * nobody heard: as rli_session_note_unheard. */
void rli_entry_note_unheard(rli_engine *engine, rli_entry *entry, const rli_kind *kind, const char *unheard);
/* Over, from now on; `report`: tell rlock_on_lost. */
void rli_session_lose(rli_engine *engine, rli_session *session, rlock_lost_reason reason, bool report);

#endif
