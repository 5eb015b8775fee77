/* Load: threads that take and release locks for some time, and how long that took them. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_LOAD_H
#define CLI_LOAD_H

#include "cli/options.h"
#include "cli/signals.h"

#include <rlock/client.h>
#include <stdbool.h>
#include <stdint.h>

/* Latency: a histogram of durations, exact to 3 %. */
#define LATENCY_FINE  5 /* 2^5 = 32 steps from each power of two to the next */
#define LATENCY_STEPS (64 << LATENCY_FINE)

typedef struct cli_latency {
    uint64_t counts[LATENCY_STEPS], total;
} cli_latency;

/* The duration in µs that `share` of all durations (0 to 1) do not exceed; 0: there are none. */
double latency_quantile_us(const cli_latency *latency, double share);

#define LOAD_PREFIX "rlock:bench:" /* prefix of its locks' names */

typedef struct cli_load {
    const cli_kind *kind; /* a kind of lock */
    int threads;
    int64_t time_ms, hold_ms; /* length of the run; how long each lock is held */
    bool one_name;            /* all threads use one name; otherwise each thread has its own */
    /* Takes no locks, but asks whether one is held: one round trip. */
    bool asks;
} cli_load;

typedef struct cli_load_result {
    int threads;
    /* seconds: from the start to the end of the last turn; cpu_us: this process's CPU time meanwhile. */
    double seconds, cpu_us;
    /* How often a thread acquired a lock that another thread held. */
    uint64_t violations;
    int connections; /* open connections at the end; -1: unknown */
    /* How long each turn took: a lock and an unlock, or one request. */
    cli_latency turns;
} cli_load_result;

/* Runs the load on the client's server until its time is over or a signal comes; a second signal ends the
 * process. Releases everything. Returns the exit status, after a message on stderr if something went wrong;
 * EXIT_LOST also if there were violations. *result is set for EXIT_DONE and for violations. */
int load_run(rlock_client *client, const cli_load *load, const cli_signals *signals, cli_load_result *result);

/* How many sockets this process has open; -1: unknown. */
int load_sockets(void);

#endif
