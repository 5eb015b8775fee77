/* Leases: what scripts of this library do to the times for which keys stand. Waiters sleep for the time that they were
 * told; a key that stands too long keeps them out, and one that ends earlier must be told. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIM_LEASES_H
#define SIM_LEASES_H

#include "tests/sim/check/wire_parts.h"

typedef struct leases_run {
    const char *script;
    wire_family which;
    const host *at;
    const char *name;
    const sim_run *run;
} leases_run;

/* A script begins; it has run, and has left this under its name. */
void leases_begin(const host *at, const sim_run *run);
void leases_check(const leases_run *self, const wire_state *after);

#endif
