/* Kept: a lock that was granted stands on the server until its owner gives it back. Where threads act for one owner, the
 * library may mistake the hold of one for what another's call took and gives back. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIM_KEPT_H
#define SIM_KEPT_H

#include "tests/sim/check/calls.h"
#include "tests/sim/server/server.h"
#include "tests/sim/world/network.h"

/* That acquire was granted, and its owner may rely on it for so long. */
void kept_from(const call *call, validity validity);
/* A script is about to run at that host on that lock; it has run. */
void kept_before(const host *at, int resource);
void kept_after(const host *at, int resource, const char *script);

#endif
