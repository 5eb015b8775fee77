/* Drive: has the calling thread carry out a job that is written for operations without one, because its parts wait at
 * the same time. The thread polls the connections of all members. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_DRIVE_H
#define RLI_DRIVE_H

#include "locks/composite.h"

/* As rli_methods.run, for a composite. *begun false: nothing was done, for want of memory or descriptors, or because all
 * clients are closed. */
rlock_status rli_drive(rlock *handle, const rli_job *job, int64_t *answer, bool *begun);

#endif
