/* Masters: a client that has used the successor of a master does not go back to that. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIM_MASTERS_H
#define SIM_MASTERS_H

#include "tests/sim/check/calls.h"
#include "tests/sim/server/server.h"
#include "tests/sim/world/network.h"

/* A script of that client has run there. */
void masters_ran(const host *at, const machine *client, const sim_run *run);
/* A call that acquires has been answered. */
void masters_check(const call *call);

#endif
