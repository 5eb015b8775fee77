/* Uncontended take and release of every other kind of lock and semaphore: each thread on a name of its own. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/rows/row.h"

#include <stdio.h>

static const struct kinds_case {
    const char *kind;
    int scripts;     /* of a turn */
    bool untargeted; /* its row is there to be read, beside the others */
} cases[] = {
    {.kind = "spin", .scripts = 2}, {.kind = "token", .scripts = 2}, {.kind = "signal", .scripts = 2},
    {.kind = "fenced", .scripts = 2}, {.kind = "non-reentrant", .scripts = 2}, {.kind = "read", .scripts = 2},
    {.kind = "write", .scripts = 2}, {.kind = "fair", .scripts = 2}, {.kind = "semaphore", .scripts = 2},
    {.kind = "permit", .scripts = 2}, {.kind = "multi", .scripts = 6},
    {.kind = "redlock", .scripts = 6, .untargeted = true}, {.kind = "sharded", .scripts = 2, .untargeted = true},
    {.kind = "guarded-write", .scripts = 3, .untargeted = true},
};

static const int thread_counts[] = {1, 8};

/* In fewer slices than the plain lock, as there are so many rows. */
static bool measure_one(bench_run *bench, const struct kinds_case *at, int threads)
{
    static const bench_target target = {.raw = 0.9, .connections = 8};
    int slices = threads == 1 ? 14 : 6, ms = threads == 1 ? 5 : 10;
    char what[64];
    bench_side sides[] = {
        {.who = "raw", .kind = at->kind, .threads = threads, .names = "own", .slices = slices, .ms = ms},
        {.who = "rlock", .kind = at->kind, .threads = threads, .names = "own", .slices = slices, .ms = ms,
         .scripts = at->scripts},
    };
    snprintf(what, sizeof what, "own names, %s", at->kind);
    return contest_measure(bench, sides, 2, what, at->untargeted ? NULL : &target);
}

/* Beside nothing: no request is sent. */
static bool measure_singleflight(bench_run *bench)
{
    bench_side side = {.who = "rlock", .kind = "singleflight", .threads = 8, .names = "own", .slices = 6, .ms = 10};
    return contest_measure(bench, &side, 1, "own keys, singleflight, a load that is done at once", NULL);
}

static bool measure(bench_run *bench)
{
    bool right = measure_singleflight(bench);
    for (size_t i = 0; right && i < sizeof cases / sizeof *cases; i++) {
        for (size_t k = 0; right && k < sizeof thread_counts / sizeof *thread_counts; k++)
            right = measure_one(bench, &cases[i], thread_counts[k]);
    }
    return right;
}

extern const bench_row row_kinds;
const bench_row row_kinds = {
    "kinds", "Uncontended take and release of every other kind, each thread on a name of its own", measure};
