/* Extra: what a session has to remember beyond one plain hold. It is there while a call of the owner is under
 * way, and for as long as it says something; most holds are plain, and there may be a million of them. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_COLD_FIELDS_H
#define RLI_COLD_FIELDS_H

#include "base/operation.h"

#include <stdbool.h>
#include <stdint.h>

struct rli_async_release;
struct rli_kind;
struct rli_waiter;

typedef struct rli_cold {
    struct rli_cold *next;   /* among those that nobody uses */
    int attempts;            /* calls under way that acquire, release or extend */
    int highest;             /* the count that it asked for at most */
    int renewed;             /* holds without lease of their own */
    int level_room;          /* how many holds there is room for in… */
    int64_t *level_ends_ms;  /* …kinds with levels: until when each hold may be relied on, the outermost first */
    uint64_t renewed_levels; /* bit 0: the innermost hold is renewed, bit 1: the one around it… */
    uint64_t missed_levels;  /* of a red lock's member, bit 0: the red lock's innermost hold was taken without it… */
    rli_turn *turns;         /* calls that wait until the request under way is done */
    uint64_t replaces;       /* an earlier session of the owner whose field may still stand; 0: none */
    int64_t explicit_lease_ms; /* the longest lease asked for; 0: none */
    uint64_t token;            /* of the latest grant of a fenced lock */
    int64_t in_doubt_ms;       /* the longest lease of a request that may still run late; 0: none */
    int64_t
        in_doubt_more_ms; /* the same of requests that change nothing unless the hold stands: re-entries, extensions */
    int64_t release_from_ms;            /* background release: not before that instant… */
    int64_t pause_ms, release_until_ms; /* …next pause, and when to stop… */
    unsigned compensation_unanswered;   /* …and how often in a row there was no answer */
    const struct rli_kind *queue_kind;  /* its place in a queue on the server was asked for as that kind; NULL: never */
    int64_t place_ms;                   /* how long it asked to keep its place in the queue on the server… */
    uint64_t place;                     /* …and before all that have a greater number here */
    struct rli_waiter *taker; /* a release of another session may hand the lock to this waiter of it; NULL: none */
    int passes;               /* how often its hold went from thread to thread here (local_handoff.h)… */
    int64_t passes_from_ms;   /* …since that instant */
    struct rli_async_release *async_release; /* its last release, while nobody knows what became of it; NULL: none */
    char *unheard;                           /* the head of that queue that nobody heard… */
    int64_t unheard_ms;                      /* …at that instant */
} rli_cold;

/* Some that are not in use, so that few calls allocate one. Guarded as who has them. */
typedef struct rli_colds {
    rli_cold *spare;
    int count;
} rli_colds;

/* One for a session with so many holds, which are plain, where there is none yet. The last spare one is kept for a call
 * that gives back. False: out of memory. */
bool rli_colds_ensure(rli_colds *colds, rli_cold **cold, int count, bool gives_back);
/* Takes it back. NULL allowed. */
void rli_colds_give(rli_colds *colds, rli_cold *cold);
/* Whether it says no more of one hold than that it is renewed. */
bool rli_cold_is_plain(const rli_cold *cold);
void rli_colds_free(rli_colds *colds);

#endif
