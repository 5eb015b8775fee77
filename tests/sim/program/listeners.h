/* Listeners of a worker. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIM_LISTENERS_H
#define SIM_LISTENERS_H

#include "tests/sim/program/run.h"

/* A listener's own key begins with it. */
#define LISTENERS_KEY "heard by "

/* Whether some thread of the plan listens. */
bool listeners_are_planned(const plan *plan);
void listener_step(worker *worker, const plan_step *step);
/* The one that the worker added last is removed. */
void listener_remove_step(worker *worker);
/* Those of a key of their own are told what becomes of it, once all is well; then all of the worker's are removed. */
void listeners_end(worker *worker);

#endif
