/* Peers: what a program could lock with instead of rlock, in one contest with it; what counts under contention are the
 * turns that were handed on to another contender. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BENCH_PEERS_H
#define BENCH_PEERS_H

#include "tests/bench/support/contest.h"

#include <stdbool.h>

#define PEERS_MAX 12

typedef struct bench_peer {
    const char *who;
    double times;           /* rlock has to make at least so many times its turns; 0: nothing is asked */
    bool rest;              /* it takes part when all are asked for, only */
    int processes, threads; /* where these differ from the row's; 0: they do not */
    const char *kind;       /* likewise */
} bench_peer;

typedef struct bench_peers {
    const char *what;
    const char *names;      /* own, or one: a name that all contenders of a contestant share */
    const char *kind;       /* NULL: lock */
    int threads, processes; /* 0: 1 */
    bool unix_socket;
    int core; /* as of a side of a contest */
    double p99_times,
        cpu_us; /* p99 of rlock's waits at most so many times PostgreSQL's, and client and server CPU a pair;
                                   0: nothing is asked */
    bench_peer peers[PEERS_MAX]; /* rlock is the first; NULL ends them */
} bench_peers;

/* Measures and reports it. False: something failed, or a violation; it has been said. */
bool peers_run(bench_run *bench, const bench_peers *row);

#endif
