/* Holders: which sessions have an exclusive lock when scripts run, and what became of them; what calls answer is
 * compared with that. The library cannot see whether an attempt that was not answered has run; the servers' model
 * can. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIM_HOLDERS_H
#define SIM_HOLDERS_H

#include "tests/sim/check/calls.h"
#include "tests/sim/server/server.h"
#include "tests/sim/world/network.h"

/* A script is about to run at that host on that lock; it has run. takes: it acquires. */
void holders_before(const host *at, const char *name);
void holders_after(const host *at, int resource, const char *name, const sim_run *run, bool takes);

/* How often scripts have been asked by the holder for the same lock once more. */
unsigned holders_re_entries(int resource);
/* How often a script has taken it for a session that did not have it. */
unsigned holders_fresh_takes(int resource);

/* A call was granted a lock that its owner holds already. */
void holders_check_re_entry(const call *call);
/* A last unlock has answered RLOCK_OK; RLOCK_NO_MEMORY. */
void holders_check_given_back(const call *call);
void holders_check_memory(const call *call);
/* A call was granted a lock, and its hold is not counted yet. */
void holders_check_row(const call *call);

#endif
