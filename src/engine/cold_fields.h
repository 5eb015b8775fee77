/* Cold fields: what a session must remember beyond one plain hold.
 *
 * A session has them while an operation of its owner is under way, and after that for as long as they say
 * something. A program may hold a million locks, and most of those holds are plain. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_COLD_FIELDS_H
#define RLI_COLD_FIELDS_H

#include "base/operation.h"

#include <stdbool.h>
#include <stdint.h>

struct rli_async_release;
struct rli_kind;
struct rli_session;
struct rli_waiter;

/* One hold of a reader. Each has its own timeout on the server. */
typedef struct rli_read_level {
    int64_t end_ms;    /* until when it may be relied on */
    int64_t stands_ms; /* until when the server may keep it, if nothing extends it */
} rli_read_level;

typedef struct rli_cold_fields {
    struct rli_cold_fields *next; /* in the list of spare ones */
    int attempts;                 /* operations under way that acquire, release or extend */
    int highest;                  /* the highest count requested so far */
    int renewed;                  /* holds that were taken without a lease */
    /* Read holds only: the allocated length of `levels`. */
    int level_room;
    /* Read holds only: each hold, the outermost first. */
    rli_read_level *levels;
    /* Read holds only: a release that is late deletes the levels above so many; 0: none is late. */
    int sure_levels;
    /* Bit 0: the watchdog renews the innermost hold; bit 1: the one around it; and so on. */
    uint64_t renewed_levels;
    /* For a member of a red lock. Bit 0: the red lock took its innermost hold without this member; and so on. */
    uint64_t missed_levels;
    /* How many holds a sharded lock has taken beside the one that rli_session.sharded counts. */
    int sharded_more;
    /* Operations that wait for the session's turn. */
    rli_turn *turns;
    /* The number of an earlier session of the owner whose field may still be on the server; 0: none. */
    uint64_t replaces;
    /* The longest lease that the owner requested; 0: none, all holds are renewed. */
    int64_t explicit_lease_ms;
    /* Others have shortened the lease: how much of it a look found left, or the longest lease by which it was extended
     * since. 0: they have not. */
    int64_t cut_ms;
    int64_t cut_sent_ms; /* when that look was sent */
    /* Fenced locks: the fencing token of the latest grant. */
    uint64_t token;
    /* The longest lease of a request that may still run late; 0: none. */
    int64_t in_doubt_ms;
    /* The same for what matters only while the owner holds the lock (rli_session_in_doubt_if_held). */
    int64_t in_doubt_more_ms;
    /* It is compensated, and no round of that was answered yet: rlock_client_close waits for the answer. */
    bool not_given_back;
    /* Compensating releases: not before this instant. */
    int64_t release_from_ms;
    /* Compensating releases: the last pause between two, and when they stop. */
    int64_t pause_ms, release_until_ms;
    /* Compensating releases: how many in a row went unanswered. */
    unsigned compensation_unanswered;
    /* In the list of sessions that wait to be compensated (watchdog/clean_up.h). */
    struct rli_session *next_clean_up;
    /* The kind through which the session queued on the server; NULL: it never did. */
    const struct rli_kind *queue_kind;
    /* The longest timeout of its place in the server's queue that it requested, ms. */
    int64_t place_ms;
    /* The lease with which it is, was or may be registered among the waiters on the server (lua/lock/waiters.inc); 0:
     * it never registered. */
    int64_t registered_ms;
    /* The longest lease with which a waiter of the owner expects an offer of a fair lock; 0: none does. */
    int64_t expected_ms;
    /* How many requests were sent that may have registered or queued it. */
    int registrations;
    /* Its position among the places that this process requested: a lower number asked first. */
    uint64_t queue_number;
    /* The waiter of this session to which another session's release may hand the lock; NULL: none. */
    struct rli_waiter *taker;
    /* Local handoff: how many times in a row the hold went from thread to thread here. */
    int passes;
    /* Local handoff: when that series began. */
    int64_t passes_from_ms;
    /* Its last release while the outcome is unknown (async_release.h); NULL: none. */
    struct rli_async_release *async_release;
    /* The unheard head of the server's queue (kind.h); NULL: none. */
    char *unheard;
    const struct rli_kind *unheard_kind; /* whose script named it */
    /* When it was notified. */
    int64_t unheard_ms;
    /* Nothing of the session is in doubt: its compensating releases only notify the unheard head again. */
    bool only_tells;
} rli_cold_fields;

/* Spare cold fields, so that few operations allocate any. The engine's mutex guards them. */
typedef struct rli_cold_fields_pool {
    rli_cold_fields *spare;
    int count;
} rli_cold_fields_pool;

/* Gives a session its cold fields, unless *cold is set already. `count`: how many holds it has, all plain
 * (renewed). gives_back: the caller releases a hold. Only such a caller gets the last spare one without an
 * allocation, so that a release can proceed without memory. Returns false when out of memory. */
bool rli_cold_fields_ensure(rli_cold_fields_pool *cold_fields_pool, rli_cold_fields **cold, int count, bool gives_back);
/* Frees the cold fields or adds them to the spare ones. NULL is allowed. */
void rli_cold_fields_return(rli_cold_fields_pool *cold_fields_pool, rli_cold_fields *cold);
/* Returns whether they say nothing more than that there is one renewed hold. */
bool rli_cold_fields_are_plain(const rli_cold_fields *cold);
/* Frees the spare ones. */
void rli_cold_fields_pool_free(rli_cold_fields_pool *cold_fields_pool);

#endif
