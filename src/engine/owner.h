/* Owners: who acts, a thread of this process or a number that the program named. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_OWNER_H
#define RLI_OWNER_H

#include <rlock/status.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Whether a thread still lives; outlives it as long as a hold of its refers to it. */
typedef struct rli_life {
    atomic_int references;
    atomic_bool ended;
    pid_t tid;
    int64_t number;
} rli_life;

typedef struct rli_owner {
    int64_t number;
    bool named;
    rli_life *life; /* borrowed; NULL for named owners and threads that are ending */
} rli_owner;

/* The calling thread as an owner. Its number is not used again in this process.
 * RLOCK_OK or RLOCK_NO_MEMORY. */
rlock_status rli_owner_thread(rli_owner *owner);

static inline rli_owner rli_owner_named(int64_t number)
{
    return (rli_owner){number, true, NULL};
}

static inline bool rli_owner_same(const rli_owner *a, const rli_owner *b)
{
    return a->number == b->number && a->named == b->named;
}

/* Whether the thread has ended. May ask the system. */
bool rli_life_has_ended(const rli_life *life);

rli_life *rli_life_keep(rli_life *life); /* NULL allowed */
void rli_life_release(rli_life *life);   /* NULL allowed */

#endif
