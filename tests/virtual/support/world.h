/* The simulated world of a test. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef VIRTUAL_WORLD_H
#define VIRTUAL_WORLD_H

#include "tests/sim/world/machine.h"

/* All clocks of the world run alike and show the same time, so that tests may compare them. */
void world_set_clock(machine *of);

#endif
