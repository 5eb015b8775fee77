/* Single lock: the handle for one name, of one client and one kind. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_SINGLE_H
#define RLI_SINGLE_H

#include "client/client.h"
#include "engine/kind.h"
#include "engine/owner.h"
#include "locks/handle.h"
#include "redis/call.h"

#include <rlock/lock.h>
#include <stdatomic.h>

typedef struct rli_single {
    rlock base;
    rlock_client *client;  /* referenced */
    atomic_int references; /* the program's, and one for each async call under way */
    const rli_kind *kind;
    rli_names names;
    rlock_back_off back_off;
    rlock_call_options call_options;
    bool named_owner;
    int64_t owner;
} rli_single;

#define rli_single_of(lock) RLI_ITEM(rli_single, (lock), base)

/* Makes a handle. `back_off`: copied, for kinds that poll (rli_kind_polls); NULL: the default of the kind. Returns NULL
 * when that fails: rlock_last_error() says why. */
rlock *rli_single_make(rlock_client *client, const char *name, const rli_kind *kind, const rlock_back_off *back_off);
/* The owner that the job names; NULL: the one that the handle names, or the calling thread. */
const rli_owner *rli_job_owner(const rli_job *job);
/* Sets *owner to who acts when `given` is meant (handle.h). RLOCK_OK, RLOCK_NO_MEMORY. */
rlock_status rli_single_owner(const rli_single *lock, const rli_owner *given, rli_owner *owner);

/* How often a request of this handle is sent at most. */
int rli_single_attempts(const rli_single *lock);

/* Implement the methods of these names (handle.h). */
rlock_status rli_single_check(const rlock *lock);
rlock_status rli_single_check_owner(const rlock *handle);
rlock_status rli_single_run(rlock *handle, const rli_job *job, int64_t *answer);
size_t rli_single_room(const rlock *handle, rli_job_kind kind);
rli_machine *rli_single_begin(rlock *handle, const rli_job *job, rli_operation *whole, void *memory);

/* One request for an owner's state under way. */
typedef struct rli_single_asking {
    rli_single *lock;
    rli_operation *op;
    rli_owner owner;
    bool begun;
    /* Referenced, if it is there: the request uses its route, so that an async release comes first. */
    struct rli_entry *entry;
    int known; /* how often the owner holds the lock, as far as this process knows */
    char text[RLI_OWNER_TEXT];
    rli_call call;
} rli_single_asking;

/* Asks the server for the lock's PTTL (-2: not locked) and how often the owner holds it. All but lock, op and owner is
 * zero at first. RLI_WAITING: call it again. */
rlock_status rli_single_ask(rli_single_asking *asking, int64_t *pttl_ms, int *count);

#endif
