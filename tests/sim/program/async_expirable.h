/* Async expirable: the async forms of the calls in expirable.h. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIM_ASYNC_EXPIRABLE_H
#define SIM_ASYNC_EXPIRABLE_H

#include "tests/sim/program/plan.h"

#include <rlock/async.h>

/* The object of a call: one of the three kinds; the handles of the others are NULL. */
typedef struct expirable {
    rlock_object *object;
    rlock_semaphore *semaphore;
    rlock_permit_semaphore *permits;
    rlock_count_down_latch *latch;
    const char *id; /* of a permit, "": none */
} expirable;

/* Begins the call that OBJECT_ASK or OBJECT_CHANGE makes. */
rlock_status expirable_begin(const expirable *of, const plan_step *step, rlock_result_fn *fn, void *argument);

#endif
