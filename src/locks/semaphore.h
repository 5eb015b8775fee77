/* Semaphore: what the files that implement its calls share. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_SEMAPHORE_H
#define RLI_SEMAPHORE_H

#include "locks/object_call.h"

#include <rlock/semaphore.h>

struct rlock_semaphore {
    rli_object object;
};

rlock_status rli_semaphore_check(const rlock_semaphore *semaphore);
/* The same, and whether `permits` may be asked for. */
rlock_status rli_semaphore_check_permits(const rlock_semaphore *semaphore, int permits);

/* Starts a call of a script on the counter; `publishes`: the script takes the channel as its first argument. */
void rli_semaphore_start(rli_call *call, const rli_object *object, const rli_script *script, bool publishes);
/* rli_object_call.put: the same, with the call's numbers. */
void rli_semaphore_put(rli_call *call, const rli_object_call *asked);

/* Returns the release of so many permits. existing: only if there is such a semaphore. */
rli_object_call rli_semaphore_release_of(rli_object *object, int permits, bool existing);

#endif
