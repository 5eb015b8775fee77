/* Steps: what those that block and those that do not share. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIM_STEPS_PARTS_H
#define SIM_STEPS_PARTS_H

#include "tests/sim/check/calls.h"

hold *step_hold(const worker *worker, const plan_step *step);
/* The name of a named owner, from 1 on. */
int64_t step_owner(const worker *worker, int number);
validity step_validity(const worker *worker, rlock *lock);
/* How long it may wait: see step_take. */
int64_t step_wait_ms(const worker *worker, const plan_step *step, const hold *wanted);
/* The worker waits for it from now on, as far as the checker is to know. */
void step_waits(worker *worker, const plan_step *step, const call *of);
/* For a worker's close: the client closes, in the calling thread. */
void step_close(worker *worker);

#endif
