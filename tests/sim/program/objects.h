/* Steps on what is no lock: semaphores, permits, latches. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIM_OBJECTS_H
#define SIM_OBJECTS_H

#include "tests/sim/program/run.h"

/* A semaphore or latch, as what is common to them. NULL: out of memory, or the client is closed. */
rlock_object *worker_object(worker *worker, int object);
void object_step(worker *worker, const plan_step *step);
void objects_end(worker *worker);

#endif
