/* Entry: a name in use, with the sessions and the local waiters on it; of a group lock, a group and its values.
 *
 * engine->mutex guards all of it, and every function here expects it to be held, unless it says otherwise. None does
 * I/O. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_ENTRY_H
#define RLI_ENTRY_H

#include "base/table.h"
#include "engine/kind.h"
#include "engine/owner.h"
#include "engine/session.h"
#include "engine/yield.h"
#include "redis/topology/route.h"

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
    int64_t answered_ms;      /* when the server last answered an acquire for the name, */
    int64_t asked_ms;         /* and when the latest of those that it has answered was sent */
    /* The session whose hold is kept for a local waiter (local_handoff.h); NULL: none. */
    struct rli_session *kept;
    rli_yield yield; /* of waiters of kinds that hand over here (rli_kind_hands_over_here) */
} rli_queues;

typedef struct rli_entry {
    rli_link link;
    rli_route route;          /* by which pipeline the name's requests go */
    rli_session *sessions;    /* all sessions on the name, in no order */
    rli_queues *queues;       /* NULL: nobody has waited here */
    unsigned references : 30; /* sessions, and operations under way */
    unsigned in_doubt : 1;    /* some first acquire on it is or was in doubt */
    /* These two never change, so they are read without the mutex: they must not share memory with fields that
     * change. */
    unsigned : 0;
    unsigned length : 31;
    unsigned grouped : 1; /* a group lock: rli_entry_group is behind the name */
    /* Memory for one session, as mostly there is only one. In use if own.entry is set. */
    rli_session own;
    char name[]; /* includes the client's prefix */
} rli_entry;

/* A group lock's entry that has queues. */
typedef struct rli_waited_group {
    struct rli_entry *entry;
    struct rli_waited_group *next, *previous; /* in engine->waited_groups */
} rli_waited_group;

/* The fields that only a group lock's entry has: its values, and its links in the list of group locks in use. */
typedef struct rli_entry_group {
    struct rli_values *values; /* referenced */
    struct rli_entry *entry;
    struct rli_entry_group *next, *previous; /* in engine->groups */
    rli_waited_group waited;
} rli_entry_group;

uint32_t rli_entry_hash(const rli_link *link);
/* Returns the entry for a name with one more reference, and creates it if there is none. NULL: out of memory. */
rli_entry *rli_entry_ref(rli_engine *engine, const rli_names *names);
/* Drops a reference; the last one frees the entry. */
void rli_entry_unref(rli_engine *engine, rli_entry *entry);
/* Returns the entry for a name without a reference; NULL: there is none. */
rli_entry *rli_entry_find(const rli_engine *engine, const rli_names *names);
/* The same for the bytes of the name with the client's prefix. */
rli_entry *rli_entry_find_name(const rli_engine *engine, const char *name, size_t length);

/* Makes the names of the entry's object, of a kind that it is used as. Needs no mutex while the entry is referenced.
 * Free them with rli_names_free. RLOCK_OK, RLOCK_NO_MEMORY. */
rlock_status rli_entry_names(const rli_entry *entry, const rli_naming *naming, rli_names *names);
/* The values of a group lock's entry; NULL: it is none. Needs no mutex while the entry is referenced. */
const struct rli_values *rli_entry_values(const rli_entry *entry);
/* Returns whether the owner holds some of the entry's values, together with others of the same group. */
bool rli_entry_has_rival(const rli_engine *engine, const rli_entry *entry, const rli_owner *owner);

/* Calls `act` for the entry and, of a group lock, for each other entry that shares a value with it. */
void rli_entry_each_meeting(const rli_engine *engine, rli_entry *entry, void (*act)(void *, rli_entry *),
                            void *argument);
/* The same for those of them alone that have queues: of many group locks few may be waited for. */
void rli_entry_each_waited(const rli_engine *engine, rli_entry *entry, void (*act)(void *, rli_entry *),
                           void *argument);

/* Allocates entry->queues unless it is there. Returns false when out of memory. */
bool rli_entry_open_queues(struct rli_engine *engine, rli_entry *entry);

#endif
