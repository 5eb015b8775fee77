/* Forks: a child of a process of the plan, which calls what it may not, and opens a client of its own. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIM_FORKED_H
#define SIM_FORKED_H

#include "tests/sim/program/run.h"

void fork_and_call(worker *worker, const plan_step *step);

#endif
