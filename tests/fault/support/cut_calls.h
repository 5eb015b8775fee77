/* Calls that many operations make, and what is there before them. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FAULT_CUT_CALLS_H
#define FAULT_CUT_CALLS_H

#include "tests/fault/support/cut.h"

#define CUT_LEASE_MS 15000
#define COUNT(table) (sizeof(table) / sizeof *(table))

rlock_status lock(cell *self);
rlock_status try_lock(cell *self); /* without wait, for CUT_LEASE_MS */
rlock_status unlock(cell *self);

/* Five permits; two of them taken and given back. */
#define FIVE "N string 5\n"
void five(cell *self);
rlock_status try_acquire(cell *self);
rlock_status release(cell *self);

#endif
