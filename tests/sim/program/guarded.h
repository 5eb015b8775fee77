/* Guarded writes, by holders of fenced locks and by those whose time is over. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIM_PROGRAM_GUARDED_H
#define SIM_PROGRAM_GUARDED_H

#include "tests/sim/program/run.h"

void guarded_step(worker *worker, const plan_step *step);

#endif
