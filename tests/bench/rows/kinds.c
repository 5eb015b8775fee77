/* Uncontended take and release of every other kind of lock and semaphore: each thread on a name of its own. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/rows/row.h"

#include <stdio.h>

static const struct kinds_case {
    const char *kind;
    int scripts; /* of a turn */
} cases[] = {
    {"spin", 2}, {"token", 2}, {"fenced", 2}, {"non-reentrant", 2}, {"read", 2}, {"write", 2},
    {"fair", 2}, {"semaphore", 2}, {"permit", 2}, {"multi", 6},
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
    return contest_measure(bench, sides, 2, what, &target);
}

static bool measure(bench_run *bench)
{
    bool right = true;
    for (size_t i = 0; right && i < sizeof cases / sizeof *cases; i++) {
        for (size_t k = 0; right && k < sizeof thread_counts / sizeof *thread_counts; k++)
            right = measure_one(bench, &cases[i], thread_counts[k]);
    }
    return right;
}

extern const bench_row row_kinds;
const bench_row row_kinds = {
    "kinds", "Uncontended take and release of every other kind, each thread on a name of its own", measure};
