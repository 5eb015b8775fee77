/* Firing: a cancel token, fired in its time by a thread of its own. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIM_FIRING_H
#define SIM_FIRING_H

#include "tests/sim/program/run.h"

typedef struct firing {
    rlock_cancel *token; /* NULL: it is not to be fired, or there was no memory */
    int64_t at_ns, fired_ns;
    bool fired, over;
    thread *by;
} firing;

/* after_ms below 0: never. Its own until the call that has the token has ended. */
void firing_begin(firing *firing, worker *worker, int64_t after_ms);
void firing_end(firing *firing);

#endif
