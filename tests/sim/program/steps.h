/* Steps: each one a public call, and what becomes of it told to the checker. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIM_STEPS_H
#define SIM_STEPS_H

#include "tests/sim/program/run.h"

/* False: the thread is to end. */
bool step_take(worker *worker, const plan_step *step);
/* The last thing that a thread does: gives its handles back. */
void steps_end(worker *worker);

#endif
