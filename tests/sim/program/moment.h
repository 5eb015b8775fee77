/* Moments: what a step or a fault of a plan may wait for, so that it comes together with something else. What breaks is
 * mostly a meeting, and instants drawn at random meet rarely. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIM_MOMENT_H
#define SIM_MOMENT_H

#include "tests/sim/program/plan.h"
#include "tests/sim/world/network.h"

/* That moment has come. `by`: the connection of the request; NULL: there is none. For server hooks, too. */
void moment_comes(moment which, const connection *by);
/* The moment of a script that ran: "lock/release"; NO_MOMENT. */
moment moment_of(const char *script);
/* Sleeps until it comes, though no longer than that instant, or until `on` is woken. */
void moment_await(moment which, const void *on, int64_t until_ns);
/* Has it done when it comes, unless that instant has come before. */
void moment_when(moment which, int64_t until_ns, void (*run)(void *argument), void *argument);
/* The connection of the latest moment; NULL: it had none, or is closed. */
connection *moment_connection(void);

#endif
