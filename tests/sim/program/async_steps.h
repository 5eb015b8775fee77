/* Async steps: the async calls of a thread of the plan, whose functions are called in the loop of its process. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIM_ASYNC_STEPS_H
#define SIM_ASYNC_STEPS_H

#include "tests/sim/program/run.h"

/* False: it is to be made by the blocking call, because there is no async one. */
bool async_step(worker *worker, const plan_step *step);
/* Closes the client in its loop; or in a function that it calls, if the step says so. */
void async_close(worker *worker, const plan_step *step);

#endif
