/* Other lock clients that the package registries give, on names of their own and on one name. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/rows/row.h"

#define THREADS 8
#define MS 150 /* a slice of theirs: none needs a JVM's warm-up, but who waits asks seldom */
#define WARM_UP_MS 500

static bool measure_one(bench_run *bench, const char *what, const char *names)
{
    bench_side sides[] = {
        {.who = "rlock", .kind = "lock", .threads = THREADS, .names = names, .slices = 3},
        {.who = "redisson", .kind = "lock", .threads = THREADS, .names = names, .ms = MS},
        {.who = "redis-py", .kind = "lock", .threads = THREADS, .names = names, .ms = MS, .warm_up_ms = WARM_UP_MS},
        {.who = "redlock", .kind = "lock", .threads = THREADS, .names = names, .ms = MS, .warm_up_ms = WARM_UP_MS},
    };
    int count = sizeof sides / sizeof *sides;
    return contest_measure(bench, sides, count, what, NULL);
}

/* The token lock is the one that these two take. */
static bool measure_token(bench_run *bench, const char *what, const char *names)
{
    bench_side sides[] = {
        {.who = "rlock", .kind = "token", .threads = THREADS, .names = names, .slices = 3},
        {.who = "redis-py", .kind = "lock", .threads = THREADS, .names = names, .ms = MS, .warm_up_ms = WARM_UP_MS},
        {.who = "redlock", .kind = "lock", .threads = THREADS, .names = names, .ms = MS, .warm_up_ms = WARM_UP_MS},
    };
    return contest_measure(bench, sides, sizeof sides / sizeof *sides, what, NULL);
}

static bool measure(bench_run *bench)
{
    return measure_one(bench, "own names", "own") && measure_one(bench, "one name", "one:bench:other-clients") &&
           measure_token(bench, "own names, token lock", "own") &&
           measure_token(bench, "one name, token lock", "one:bench:other-clients-token");
}

extern const bench_row row_other_clients;
const bench_row row_other_clients = {
    "other-clients", "Lock clients of other languages, 8 threads of one process, on a name each and on one name",
    measure};
