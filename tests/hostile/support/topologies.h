/* Topologies: the answers of four servers about themselves and each other, while their roles change. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HOSTILE_TOPOLOGIES_H
#define HOSTILE_TOPOLOGIES_H

#include "tests/hostile/support/values.h"

#include <stdbool.h>

typedef struct topologies {
    hostile_ports ports;
    int master;   /* which of them, for sentinels and replicated servers */
    int shift;    /* by so many places the cluster's slots have moved on */
    int epoch;
    int run;      /* of all of them: the number in run_id */
} topologies;

/* Appends the answer to a request that is about that, or about logging in, from the server at ports.all[at]. False: it is
 * about something else. Roles change now and then. */
bool topologies_answer(topologies *self, dice *by, int at, char *const words[], int count, bytes *to);

#endif
