/* Looks at what there is: all locks, all servers, one name and whose it is. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIM_LOOKS_H
#define SIM_LOOKS_H

#include "tests/sim/program/run.h"

void look_step(worker *worker, const plan_step *step);

#endif
