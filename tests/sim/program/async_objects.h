/* Async objects: the async calls of a thread of the plan on semaphores, permits and latches. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIM_ASYNC_OBJECTS_H
#define SIM_ASYNC_OBJECTS_H

#include "tests/sim/program/run.h"

/* False: no object has such a call. */
bool async_object_step(worker *worker, const plan_step *step);

#endif
