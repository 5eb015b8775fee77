/* Shrinking: the least of a plan that still leads to a finding. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIM_SHRINK_H
#define SIM_SHRINK_H

#include "tests/sim/search/attempt.h"

/* Tries for so many seconds. `gist`: of the finding that is to stay. The last attempt that led to it. */
attempt shrink(plan *plan, const char *gist, int seconds);

#endif
