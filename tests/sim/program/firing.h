/* Firing: a cancel token, fired in its time by a thread of its own. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIM_FIRING_H
#define SIM_FIRING_H

#include "tests/sim/program/run.h"

typedef struct firing {
    rlock_cancel *token; /* NULL: it is not to be fired, or there was no memory */
    const plan_step *of;
    int64_t at_ns, fired_ns;
    bool fired, over;
    thread *by;
} firing;

/* In the time of a step, or at its moment. Its own until the call that has the token has ended. */
void firing_begin(firing *firing, worker *worker, const plan_step *of);
void firing_end(firing *firing);

#endif
