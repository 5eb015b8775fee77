/* The calls that semaphores and latches share (questions, changes of expiry and name), and the rarer ones of each kind. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIM_EXPIRABLE_H
#define SIM_EXPIRABLE_H

#include "tests/sim/program/run.h"

/* OBJECT_ASK and OBJECT_CHANGE. After a change nothing is promised of the object any more. */
void expirable_step(worker *worker, const plan_step *step);

#endif
