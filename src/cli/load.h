/* A load: threads that take and free locks for some time, and what came of it. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_LOAD_H
#define CLI_LOAD_H

#include "cli/kind.h"
#include "cli/latency.h"
#include "cli/signals.h"

#include <rlock/client.h>
#include <stdbool.h>
#include <stdint.h>

#define LOAD_PREFIX "rlock:bench:" /* the names of its locks begin with it */

typedef struct cli_load {
    const cli_kind *kind; /* of a lock */
    int threads;
    int64_t time_ms, hold_ms; /* how long it goes on; how long each lock is held */
    bool one_name;            /* the threads share a name, else each has one of its own */
    bool asks;                /* takes nothing, but asks whether it is locked: one round trip */
} cli_load;

typedef struct cli_load_result {
    int threads;
    double seconds, cpu_us; /* from the start to the end of the last turn; of this process in that time */
    uint64_t violations;    /* so often one had the lock while another had it */
    int connections;        /* that were open at the end; -1: cannot be known */
    cli_latency turns;      /* how long each turn took: a lock and an unlock, or a question */
} cli_load_result;

/* Puts it on the client's server until its time is over or a signal comes; a second signal ends the process.
 * Frees all that it took. Says on stderr what went wrong and answers the exit status: EXIT_LOST also when there
 * were violations; then, and for EXIT_DONE, *result is set. */
int load_run(rlock_client *client, const cli_load *load, const cli_signals *signals, cli_load_result *result);

/* The sockets that this process has open; -1: cannot be known. */
int load_sockets(void);

#endif
