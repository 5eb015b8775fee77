/* Tally: how the members of a red lock answered a pass, which tries to take them, and what that means for the whole. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_TALLY_H
#define RLI_TALLY_H

#include <rlock/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* After this many passes in a row in which the lease ended before a majority was taken, the lease is too short, and
 * the call ends. */
#define RLI_IN_VAIN 32

typedef struct rli_tally {
    size_t members, need;    /* how many there are, and how many make a majority */
    size_t granted, refused; /* of those that were asked: held now, and held by others */
    size_t silent, failed;   /* did not answer, and failed in a way that waiting does not change */
    rlock_status failure;    /* the most important failure of a member; RLOCK_OK: none */
    rlock_status final;      /* a status that ends the whole call; RLOCK_OK: none */
    char why[512];           /* the message of `final`, else of `failure` */
    bool in_vain;            /* the majority was granted, but not for long enough */
} rli_tally;

/* Begins anew, for that many members, of which `need` make a majority. */
void rli_tally_begin(rli_tally *tally, size_t members, size_t need);
/* Counts a member's status; its message is the thread's last error. */
void rli_tally_count(rli_tally *tally, rlock_status status);
/* Whether the members that have not answered yet can still make a majority, and nothing ends the call. */
bool rli_tally_can_win(const rli_tally *tally);
bool rli_tally_has_won(const rli_tally *tally);
/* The status of a pass that has failed, with its message. `valid`: how many members the owner holds. `lease_ms` is
 * for the message. */
rlock_status rli_tally_say(const rli_tally *tally, size_t valid, int64_t lease_ms);

/* The passes of one call, each of which ends with a tally. */
typedef struct rli_passes {
    int silent, vain;    /* how many in a row got no answer, or were in vain */
    rlock_status status; /* of the latest one, and its message */
    char said[512];
} rli_passes;

/* A pass has failed, and all that it took is given back; `attempts`: how many in a row may get no answer. Returns
 * whether another one may succeed. */
bool rli_passes_end(rli_passes *passes, const rli_tally *tally, size_t valid, int64_t lease_ms, int attempts);

#endif
