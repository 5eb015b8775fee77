/* A contest: several sides work in turn, slice by slice, so that what drifts on the machine hits all of them;
 * what counts is the median of the ratios of neighbouring slices. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BENCH_CONTEST_H
#define BENCH_CONTEST_H

#include "tests/bench/support/bench.h"
#include "tests/bench/support/contestant.h"
#include "tests/bench/support/histogram.h"
#include "tests/bench/support/median.h"
#include "tests/bench/support/report.h"
#include "tests/bench/support/server.h"
#include "tests/bench/support/target.h"

#include <stdbool.h>
#include <stdint.h>

#define CONTEST_BLOCKS 15
#define CONTEST_PROCESSES_MAX 128

typedef struct bench_side {
    /* to be set; the rest is zeroed */
    const char *who;   /* the contestant */
    const char *kind;  /* as in the protocol */
    int threads;       /* of each process */
    int processes;     /* 0 is 1 */
    const char *names; /* own, one:NAME */
    int slices, ms;    /* in a block; 0: for C 42 of 5 ms for one thread, 14 of 10 ms for up to 8,
                          7 of 20 ms for more; for others 1 of 200 ms */
    int warm_up_ms;    /* 0: 50 ms for C, 3000 ms for others, 300 ms for those that are warm */
    double scripts;    /* that a turn takes at least; the contest fails when there were fewer in the warm-up */
    bool unix_socket;  /* it reaches its server over one; else over loopback, or as the whole run does */
    int core;          /* that it and its server are pinned to, counted from 1; 0: to none */
    bool confirmed;    /* the server's own counters have to confirm its turns */
    /* for contest_report(), where this side differs from what is said there; NULL: it does not */
    const char *what;
    const bench_target *target;

    /* filled; out: it was left out and all else is 0 */
    bool out;
    bench_contestant *processes_at[CONTEST_PROCESSES_MAX];
    int done;                 /* slices; the first, which warms up, is never counted */
    double *per_s;            /* of each slice, all processes together */
    double *handed_per_s;     /* of those, the turns whose lock another contender had before */
    double *p50s_us, *p99s_us;
    uint64_t turns, violations;
    double cpu_us, server_us; /* of all slices */
    int connections;          /* the most seen */
    bench_histogram latencies, waits;
    double longest_us;        /* wait */
    uint64_t least, most;     /* turns of one contender */
    bench_server *server;
    uint64_t all_turns;       /* with those of the warm-up */
    long long counted;        /* locks given back, as the server says: in all of it, or, of Redis, in the slices */
} bench_side;

/* Lets the sides (rlock, raw, redisson …) work, interleaved, in `blocks` blocks (0: CONTEST_BLOCKS). Those
 * whose contestant is not there are left out. False: a turn failed, or two held one lock; it has been said.
 * Call contest_free() in any case. */
bool contest_run(bench_run *bench, bench_side *sides, int count, int blocks);
void contest_free(bench_side *sides, int count);

/* The side of that contestant; NULL: it is not among them, or was left out. */
const bench_side *contest_side(const bench_side *sides, int count, const char *who);
/* Of the rates of two sides: slice by slice when both have as many, else block by block. All 0 when one of them
 * was left out. */
bench_ratio contest_ratio(const bench_side *over, const bench_side *under);
/* The same of the turns that were handed on. */
bench_ratio contest_handed_ratio(const bench_side *over, const bench_side *under);
/* What came out for the side at `index` as a row of the report; its ratios are those to raw and redisson. */
bench_result contest_result(const bench_side *sides, int count, int index, const char *what);
/* Reports all sides; `target` is that of the side called rlock, NULL: it has none. */
void contest_report(bench_run *bench, const bench_side *sides, int count, const char *what, const bench_target *target);

/* All of a row that is nothing but this: has them work, in the usual number of blocks, reports them, and frees. */
bool contest_measure(bench_run *bench, bench_side *sides, int count, const char *what, const bench_target *target);

#endif
