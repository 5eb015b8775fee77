/* Holds: which owners in this process hold or want which names.
 *
 * An entry is a name in use. A session is everything that one owner does on one name, from its first attempt until
 * no hold and no attempt is left (session.h). engine->mutex guards all of it, and every function here expects it to
 * be held. None does I/O. */
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

typedef struct rli_queue {
    struct rli_waiter *first, *last; /* see queue.h */
} rli_queue;

/* The local waiters for one name; allocated when the first one comes. */
typedef struct rli_queues {
    rli_queue of[RLI_QUEUES]; /* indexed by rli_queueing */
    int64_t answered_ms;      /* when the server last answered an acquire for the name */
    /* The session whose hold is kept for a local waiter (local_handoff.h); NULL: none. */
    struct rli_session *kept;
    rli_yield yield; /* of waiters of kinds that hand over here (rli_kind_hands_over_here) */
} rli_queues;

#define RLI_FORCED_MOST 255

/* One session. There may be a million of them, so rarely used fields are in the cold fields. */
typedef struct rli_session {
    rli_link link;
    struct rli_entry *entry;
    struct rli_session *next, *previous; /* in entry->sessions */
    const rli_kind *kind;
    /* Part of the wire owner. No other session uses it again, except after a local handoff (local_handoff.h), a read
     * under a write hold (`lent`), or for compensating releases of this one. */
    uint64_t number;
    union {
        rli_thread_life *life; /* of a thread; a counted reference */
        int64_t owner_number;  /* of a named owner, or of a thread that is ending */
    };
    union {
        struct {                 /* in all phases but RLI_LOST */
            int64_t deadline_ms; /* until when the holds may be relied on */
            rli_timer timer;     /* on the watchdog's timer heap */
        };
        struct { /* in RLI_LOST */
            /* In the list of lost sessions, the oldest first. */
            struct rli_session *next_lost;
            /* In the list of losses to report. */
            struct rli_session *next_report;
            rlock_lost_reason reason;
            int reported_count;
        };
    };
    /* NULL: the session is one plain hold, which the watchdog renews; or it is lost and nothing more is known. */
    rli_cold_fields *cold;
    /* How many times the owner holds the lock. In RLI_LOST: how many of its unlocks have yet to answer RLOCK_LOST. */
    int count;
    rli_phase phase : 4;
    /* Both describe the owner. has_life: it is a thread that can be watched, and `life` is set. named: a named
     * owner. */
    bool has_life : 1, named : 1;
    /* A read hold of the same owner has taken this write hold's number. */
    bool lent : 1;
    bool busy : 1;       /* somebody has its turn (session.h): a request may be under way */
    bool releasing : 1;  /* that request is the last release */
    /* how many force releases of this process are under way for it; no more are counted than RLI_FORCED_MOST */
    unsigned forced : 8;
    bool renewing : 1;   /* it is in a renewal batch that is under way */
    bool queued : 1;     /* it may have a place in the server's queue */
    bool registered : 1; /* it may stand in the registry of waiters (lua/lock/waiters.inc) */
    bool reporting : 1;  /* its loss is being reported */
    /* aging: its timer is set for the instant at which it is old enough to be tracked (watch.h). old: it has been. */
    bool aging : 1, old : 1;
    bool suspect : 1;    /* it is to be looked at */
    bool looking : 1;    /* it is in a batch of looks that is under way */
    bool sharded : 1;    /* the owner has taken it as its part of a sharded lock */
} rli_session;

typedef struct rli_entry {
    rli_link link;
    rli_route route;          /* by which pipeline the name's requests go */
    rli_session *sessions;    /* all sessions on the name, in no order */
    rli_queues *queues;       /* NULL: nobody has waited here */
    unsigned references : 30; /* sessions, and operations under way */
    unsigned in_doubt : 1;    /* some first acquire on it is or was in doubt */
    /* These two never change, so they are read without the mutex: they must not share memory with fields that change. */
    unsigned : 0;
    unsigned length : 31;
    unsigned grouped : 1; /* a group lock: rli_entry_group is behind the name */
    /* Memory for one session, as mostly there is only one. In use if own.entry is set. */
    rli_session own;
    char name[]; /* includes the client's prefix */
} rli_entry;

/* What the entry of a group lock has beside others: the values, and the other group locks in use. */
typedef struct rli_entry_group {
    struct rli_values *values; /* referenced */
    struct rli_entry *entry;
    struct rli_entry_group *next, *previous; /* in engine->groups */
} rli_entry_group;

typedef struct rli_engine rli_engine;

void rli_holds_init(rli_engine *engine);
void rli_holds_free(rli_engine *engine); /* Frees every session and entry. */

/* --- entries (entry.c) --- */

uint32_t rli_entry_hash(const rli_link *link);
/* Returns the entry for a name with one more reference, and creates it if there is none. NULL: out of memory. */
rli_entry *rli_entry_ref(rli_engine *engine, const rli_names *names);
/* Drops a reference; the last one frees the entry. */
void rli_entry_unref(rli_engine *engine, rli_entry *entry);
/* Returns the entry for a name without a reference; NULL: there is none. */
rli_entry *rli_entry_find(const rli_engine *engine, const rli_names *names);
/* The same for the bytes of the name with the client's prefix. */
rli_entry *rli_entry_find_name(const rli_engine *engine, const char *name, size_t length);

/* Makes the names of the entry's object, of a kind that it is used as. Needs no mutex while the entry is referenced. Free
 * them with rli_names_free. RLOCK_OK, RLOCK_NO_MEMORY. */
rlock_status rli_entry_names(const rli_entry *entry, const rli_naming *naming, rli_names *names);
/* The values of a group lock's entry; NULL: it is none. Needs no mutex while the entry is referenced. */
const struct rli_values *rli_entry_values(const rli_entry *entry);
/* Returns whether the owner holds other values of the same group in the session of that number. */
bool rli_entry_is_rival(const rli_engine *engine, const rli_entry *entry, uint64_t number, const rli_owner *owner);

/* Calls `act` for the entry and, of a group lock, for each other entry that shares a value with it. */
void rli_entry_each_meeting(const rli_engine *engine, rli_entry *entry, void (*act)(void *, rli_entry *), void *argument);

/* Allocates entry->queues unless it is there. Returns false when out of memory. */
bool rli_entry_open_queues(rli_entry *entry);

/* --- sessions --- */

/* Returns the owner's open session of the same field (kinds that write have another one). If its deadline has
 * passed, first declares it lost. NULL: none. */
rli_session *rli_session_find_open(rli_engine *engine, rli_entry *entry, const rli_kind *kind, const rli_owner *owner);
/* Returns a lost session of the owner that has unlocks left to answer; NULL: none. */
rli_session *rli_session_find_lost(rli_engine *engine, rli_entry *entry, const rli_kind *kind, const rli_owner *owner);
/* Returns the session of the owner's write hold, under which the owner may read; NULL: none. */
rli_session *rli_session_find_writer(rli_engine *engine, rli_entry *entry, const rli_owner *owner);

/* Returns the owner's open session, or a new one, with one more attempt. NULL: out of memory. */
rli_session *rli_session_join(rli_engine *engine, rli_entry *entry, const rli_kind *kind, const rli_owner *owner);
/* Adds an attempt, which keeps the session and its cold fields alive. gives_back: as in rli_cold_fields_ensure. Returns
 * false when out of memory. */
bool rli_session_add_attempt(rli_engine *engine, rli_session *session, bool gives_back);
/* Drops the session's one plain hold without a release, because there is no memory for one. The watchdog stops
 * renewing it, so its lease ends on the server. Frees the session. */
void rli_session_abandon_hold(rli_engine *engine, rli_session *session);
/* Removes an attempt. May end and free the session. */
void rli_session_drop_attempt(rli_engine *engine, rli_session *session);
/* Once nothing needs the session any more, frees it or starts its compensating releases. Call it after every change
 * that may have removed the last need. */
void rli_session_settle(rli_engine *engine, rli_session *session);

/* The session enters the phase, which must be a legal transition from its own. */
void rli_session_become(rli_session *session, rli_phase phase);

/* Returns the owner; its `life` is borrowed from the session. */
rli_owner rli_session_owner(const rli_session *session);
/* Returns how many operations under way have joined the session. */
int rli_session_attempts(const rli_session *session);

/* Frees the session's async release, whose outcome is known now. Wakes rli_async_releases_await after the last one. */
void rli_session_forget_async_release(rli_engine *engine, rli_session *session);
/* Waits until the watchdog has released what scripts left that the server ended midway, or `until_ms`, when the
 * client is being closed. Engine's mutex not held. */
void rli_sessions_await_torn(rli_engine *engine, int64_t until_ms);
/* As rli_session_note_unheard_head, for a release that belongs to no session, such as a force release: creates a session
 * without an owner whose compensating release notifies the head again. `unheard` is not NULL. */
void rli_entry_note_unheard_head(rli_engine *engine, rli_entry *entry, const rli_kind *kind, const char *unheard);
/* Declares the session lost because the server no longer has the hold, or not the whole of it: of a group lock, values that are
 * left are given back. */
void rli_session_declare_gone(rli_engine *engine, rli_session *session);
/* Declares the session lost, for good. report: also queue it for rlock_on_lost. */
void rli_session_declare_lost(rli_engine *engine, rli_session *session, rlock_lost_reason reason, bool report);

#endif
