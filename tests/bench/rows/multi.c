/* Multi locks of many names on one server. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/rows/row.h"

/* Redisson requests one name after the other. It is left out for 1,000 and more: a turn takes half a second and longer, so a
 * slice has too few of them. */
static const struct multi_case {
    const char *kind, *what;
    int slices, ms, theirs_ms;
    double scripts; /* of a turn */
    double faster;  /* than Redisson, at least */
} cases[] = {
    {"multi-10", "multi lock of 10 names", 6, 20, 200, 20, 3},
    {"multi-100", "multi lock of 100 names", 3, 50, 400, 200, 10},
    {"multi-1000", "multi lock of 1,000 names", 2, 150, 0, 2000, 0},
    {"multi-10000", "multi lock of 10,000 names", 1, 1000, 0, 20000, 0},
};

static bool measure_one(bench_run *bench, const struct multi_case *at)
{
    const bench_target target = {.redisson = at->faster};
    bench_side sides[] = {
        {.who = "rlock", .kind = at->kind, .threads = 1, .names = "own", .slices = at->slices, .ms = at->ms,
         .scripts = at->scripts},
        {.who = "redisson", .kind = at->kind, .threads = 1, .names = "own", .ms = at->theirs_ms},
    };
    return contest_measure(bench, sides, at->theirs_ms ? 2 : 1, at->what, at->faster > 0 ? &target : NULL);
}

static bool measure(bench_run *bench)
{
    bool right = true;
    for (size_t i = 0; right && i < sizeof cases / sizeof *cases; i++)
        right = measure_one(bench, &cases[i]);
    return right;
}

extern const bench_row row_multi;
const bench_row row_multi = {"multi", "Multi locks of 10 to 10,000 names on one server, one thread", measure};
