/* Operations: what the async calls on locks and on other objects have in common. Each ends in a function. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIM_OPERATIONS_H
#define SIM_OPERATIONS_H

#include "tests/sim/check/calls.h"
#include "tests/sim/program/firing.h"
#include "tests/sim/program/loops.h"

#include <rlock/async.h>

/* Never freed before the run ends, so that a function that is called twice is noticed. */
typedef struct operation {
    task begin; /* first, because the loop leads to it */
    worker *worker; /* its thread may have ended, unless it waits */
    plan_step step;
    call call;
    firing cancel;
    void (*start)(struct operation *operation);
    bool called, over;
} operation;

/* Zeroed, of that size, with an operation first. Nobody waits for it yet. */
void *operation_make(size_t size, worker *worker, const plan_step *step, void (*start)(operation *operation));
/* Starts it where its step says, and waits for its function unless it is to go on. */
void operation_run(operation *operation);
/* Its call begins. Own cancel token, as blocking calls have. */
void operation_begins(operation *operation, hold *hold);
/* Its function was called: the result must be one, and the only one. Its call is to be judged. */
void operation_told(operation *operation, const rlock_result *result);
/* Its call was refused: its function will not be called. It is to be judged, too. */
void operation_refused(operation *operation, rlock_status status);
void operation_is_over(operation *operation);

/* Waits until all functions of the client's operations have been called. */
void operations_await_all(const process *of);
/* The client is closed: all have been. */
void operations_check(const process *of);

#endif
