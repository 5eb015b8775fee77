/* Steps on what is no lock: semaphores, permits, latches. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIM_OBJECTS_H
#define SIM_OBJECTS_H

#include "tests/sim/program/run.h"

void object_step(worker *worker, const plan_step *step);
void objects_end(worker *worker);

#endif
