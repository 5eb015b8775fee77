/* Objects: what their blocking and their async calls mean to the checker. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIM_OBJECTS_PARTS_H
#define SIM_OBJECTS_PARTS_H

#include "tests/sim/check/calls.h"

/* Sets the timeout of the process's handles, if they have one of their own. */
void object_set_timeout(const process *of, rlock_object *object);
/* How many permits of a plain semaphore a step is about: a release, of no more than its thread has. */
int semaphore_count(const worker *worker, const plan_step *step);
/* The worker waits for that many from now on, as far as the checker is to know. */
void object_waits(worker *worker, const plan_step *step, int count);

/* Before the request, and when its answer is known: `number` is that of a drain, or whether permits were set. */
void semaphore_begins(const worker *worker, const plan_step *step, int count);
void semaphore_ended(const worker *worker, const plan_step *step, int count, rlock_status status, int64_t number);

/* The lease of a step that acquires permits, or that sets one's lease. */
int64_t permit_lease(const plan_step *step);
/* It is about to be given back, or is looked at: until when its client says that it may be relied on, if it renews it. */
void permit_relied(const worker *worker, const rlock_permit_semaphore *semaphore, int object, const rlock_permit *permit);
/* They were taken, by a call that began then. */
void permits_taken(const worker *worker, const plan_step *step, const rlock_permit *permits, int64_t began_ns);
/* It was to be given back, and could be relied on until then. */
void permit_given(const worker *worker, int object, int64_t began_ns, int64_t until_ns, rlock_status status, bool released);

void latch_begins(const worker *worker, const plan_step *step);
void latch_ended(const call *of, rlock_status status, bool set);

#endif
