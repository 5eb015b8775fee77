/* Permit-expirable semaphore: what the files that implement its calls share. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_PERMIT_SEMAPHORE_H
#define RLI_PERMIT_SEMAPHORE_H

#include "engine/kinds/permit.h"
#include "locks/object.h"

#include <rlock/semaphore.h>

struct rlock_permit_semaphore {
    rli_object object;
};

rlock_status rli_permit_check(const rlock_permit_semaphore *semaphore);
rlock_status rli_permit_check_place(const rlock_permit_semaphore *semaphore, const void *place, const char *answer);
/* Checks the arguments of calls for several permits. */
rlock_status rli_permit_check_many(const rlock_permit_semaphore *semaphore, int count, const rlock_permit *permits);
rlock_status rli_permit_check_lease(int64_t lease_ms);

/* Acquires `count` permits and writes their ids to `permits` (permit_acquire.c). */
rlock_status rli_permits_acquire(const rli_object *object, int count, const rlock_permit_options *options,
                                 rlock_permit *permits);

#endif
