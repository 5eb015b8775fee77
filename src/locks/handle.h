/* Handle: the methods that the RLock interface needs of any lock. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_HANDLE_H
#define RLI_HANDLE_H

#include "locks/job.h"
#include "locks/levels.h"

#include <rlock/lock.h>
#include <stddef.h>

/* Identity of a lock: locks of the same server, database and name are the same lock. */
typedef struct rli_identity {
    rlock_client *client; /* not referenced */
    const char *name;     /* with the client's prefix; owned by the handle */
    size_t length;
    bool several; /* the lock is a composite; this is its first member's place */
} rli_identity;

/* Callers have checked the arguments: no out-parameter is NULL except where allowed. `owner`: who is meant. A named
 * owner is meant whatever the handle names; a thread only if the handle names nobody. NULL: the one that the handle
 * names, or the calling thread. */
typedef struct rli_methods {
    /* RLOCK_OK, RLOCK_CLOSED or RLOCK_FORKED; takes no mutex. */
    rlock_status (*check)(const rlock *lock);
    /* RLOCK_OK; RLOCK_INVALID: the handle names no owner. */
    rlock_status (*check_owner)(const rlock *lock);
    unsigned jobs; /* the kinds of jobs that it knows: RLI_JOB_BIT of each; others are RLOCK_UNSUPPORTED */
    /* Does a job. Blocks. *answer (may be NULL) as in rli_machine. */
    rlock_status (*run)(rlock *lock, const rli_job *job, int64_t *answer);
    /* The same without a thread, as a part of the async operation `whole`. `begin` prepares the machine in `memory`,
     * which has `room` bytes aligned to RLI_MACHINE_ALIGN, and does nothing else: rli_machine.go_on is to follow.
     * Handle, job, operation and memory must stay until the machine has ended. */
    size_t (*room)(const rlock *lock, rli_job_kind kind);
    rli_machine *(*begin)(rlock *lock, const rli_job *job, rli_operation *whole, void *memory);
    /* The client whose thread calls the functions of async calls. */
    rlock_client *(*home)(const rlock *lock);
    /* For a member of a red lock, which is a single lock. miss: the red lock acquired one more hold without this
     * member, which the owner already holds. drop_missed: whether the innermost hold was such a missed one; if so, it
     * is removed. */
    void (*miss)(rlock *lock, const rli_owner *owner);
    bool (*drop_missed)(rlock *lock, const rli_owner *owner);
    /* The red lock takes the member anew that the owner has lost: no unlock is to answer for those holds any more.
     * Returns false, and changes nothing, if there are more than `most` of them: then one is by the member's name. */
    bool (*forgive)(rlock *lock, const rli_owner *owner, int most);
    /* Of a kind whose server keeps no count: that session has one hold, and from now on one for each that is renewed of
     * `like`, within the outermost of these. */
    void (*deepen)(rlock *lock, const rli_owner *owner, uint64_t session, const rli_levels *like);
    /* The owner's holds there now; false: nothing that it may rely on. */
    bool (*levels)(rlock *lock, const rli_owner *owner, rli_levels *levels);
    int64_t (*valid_for)(rlock *lock, const rli_owner *owner);
    /* The same of its hold in the session with that number, and in no other; NULL: it has holds in many. */
    int64_t (*valid_in)(rlock *lock, const rli_owner *owner, uint64_t session);
    rlock_status (*get_token)(rlock *lock, const rli_owner *owner, uint64_t *token); /* NULL: it has no tokens */
    rlock_status (*get_shard)(rlock *lock, int *shard);                              /* NULL: it has no parts */
    /* Checks call options, and with `sets` takes them over. RLOCK_OK, RLOCK_INVALID. */
    rlock_status (*set_call_options)(rlock *lock, const rlock_call_options *options, bool sets);
    rlock *(*copy)(rlock *lock); /* another handle for the same lock and owner */
    rlock *(*for_owner)(rlock *lock, int64_t owner);
    rli_identity (*place)(const rlock *lock);
    const char *(*name)(const rlock *lock);
    void (*ref)(rlock *lock);  /* adds a reference to the handle */
    void (*free)(rlock *lock); /* drops one; the last frees it */
} rli_methods;

/* The beginning of every handle. */
struct rlock {
    const rli_methods *methods;
};

/* RLOCK_OK; RLOCK_INVALID: NULL; RLOCK_CLOSED, RLOCK_FORKED. */
rlock_status rli_handle_check(const rlock *lock);
/* RLOCK_OK, or RLOCK_INVALID: out of range. */
rlock_status rli_handle_check_lease(int64_t lease_ms);
/* RLOCK_OK; RLOCK_INVALID: NULL, or the lease of an extension is out of range; RLOCK_CLOSED, RLOCK_FORKED. */
rlock_status rli_handle_check_extension(const rlock *lock, int64_t lease_ms);
/* Copies options of any version. RLOCK_OK, RLOCK_INVALID. */
rlock_status rli_handle_read_options(rlock_lock_options *full, const rlock_lock_options *options);
/* RLOCK_OK, or RLOCK_UNSUPPORTED: this kind of lock does not know jobs of that kind. */
rlock_status rli_handle_check_job(const rlock *lock, rli_job_kind kind);
/* The job that these options describe. */
rli_job rli_handle_acquire_job(const rlock_lock_options *options);
/* Returns `status`. Adds the lock's name to the message of a failure, because a message from a lower layer names only
 * the connection. */
rlock_status rli_handle_told(const rlock *lock, rlock_status status);

#endif
