/* Permit-expirable semaphore: what the files that implement its calls share. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_PERMIT_SEMAPHORE_H
#define RLI_PERMIT_SEMAPHORE_H

#include "engine/kinds/permit.h"
#include "locks/object_call.h"

#include <rlock/semaphore.h>

struct rlock_permit_semaphore {
    rli_object object;
};

rlock_status rli_permit_check(const rlock_permit_semaphore *semaphore);
rlock_status rli_permit_check_place(const rlock_permit_semaphore *semaphore, const void *place, const char *answer);
/* Checks the arguments of calls for several permits. */
rlock_status rli_permit_check_count(const rlock_permit_semaphore *semaphore, int count);
rlock_status rli_permit_check_many(const rlock_permit_semaphore *semaphore, int count, const rlock_permit *permits);
/* Checks the new lease of a permit. */
rlock_status rli_permit_check_lease(int64_t lease_ms);

/* Acquires `count` permits and writes their ids to `permits` (permit_acquire.c). */
rlock_status rli_permits_acquire(rli_object *object, int count, const rlock_permit_options *options,
                                 rlock_permit *permits);
/* Begins to acquire them as an async call, whose result has their ids. RLOCK_OK, RLOCK_NO_MEMORY, RLOCK_UNSUPPORTED,
 * RLOCK_CLOSED, RLOCK_FORKED. */
rlock_status rli_permits_acquire_async(rli_object *object, int count, const rlock_permit_options *options,
                                       rlock_result_fn *fn, void *arg);

#endif
