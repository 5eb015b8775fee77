/* Multi acquire: takes all members of a multi lock, or none. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_MULTI_ACQUIRE_H
#define RLI_MULTI_ACQUIRE_H

#include "locks/composite.h"

/* The member whose fencing tokens are those of the multi lock. NULL: none is fenced. */
rlock *rli_multi_fenced(const rli_composite *set);

/* Do what rli_methods of these names do, for an acquire. */
size_t rli_multi_acquire_room(const rlock *handle);
rli_machine *rli_multi_acquire_begin(rlock *handle, const rli_job *job, rli_operation *whole, void *memory);
rlock_status rli_multi_acquire_run(rlock *handle, const rli_job *job);

#endif
