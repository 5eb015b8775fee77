/* What semaphores and latches have in common: questions, and changes of their time and name. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIM_EXPIRABLE_H
#define SIM_EXPIRABLE_H

#include "tests/sim/program/run.h"

/* OBJECT_ASK and OBJECT_CHANGE. After a change nothing is promised of the object any more. */
void expirable_step(worker *worker, const plan_step *step);

#endif
