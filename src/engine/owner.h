/* Owners: who acts on a lock, either a thread of this process or a number that the program chose. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_OWNER_H
#define RLI_OWNER_H

#include <rlock/status.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Tells whether a thread is still alive. Counted: it outlives the thread while a hold of the thread refers to it. */
typedef struct rli_thread_life {
    atomic_int references;
    atomic_bool ended;
    pid_t tid;
    int64_t number;
} rli_thread_life;

typedef struct rli_owner {
    int64_t number;
    bool named;
    rli_thread_life *life; /* borrowed; NULL for named owners and for threads that are ending */
} rli_owner;

/* Sets *owner to the calling thread. The thread's number is never used again in this process.
 * Returns RLOCK_OK or RLOCK_NO_MEMORY. */
rlock_status rli_owner_thread(rli_owner *owner);

static inline rli_owner rli_owner_named(int64_t number)
{
    return (rli_owner){number, true, NULL};
}

/* Writes the wire owner, <client id>:<number>, into `text` and returns it. */
#define RLI_OWNER_TEXT 64
const char *rli_owner_text(const char *client_id, uint64_t number, char text[RLI_OWNER_TEXT]);

/* Returns whether the thread has ended. May make a system call. */
bool rli_thread_life_has_ended(const rli_thread_life *life);

rli_thread_life *rli_thread_life_ref(rli_thread_life *life); /* Adds a reference and returns `life`. NULL is allowed. */
void rli_thread_life_unref(rli_thread_life *life); /* Drops a reference; the last one frees it. NULL is allowed. */

#endif
