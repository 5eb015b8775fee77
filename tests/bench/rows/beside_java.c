/* Contended: processes of this library and a JVM with Redisson, at the same time, on one name. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/rows/row.h"
#include "tests/bench/support/mixed.h"
#include "tests/bench/support/value.h"

#define WARM_MS 3000
#define SPAN_MS 6000
#define WAIT_MS 20 /* the JVM's p99 */

typedef struct setting {
    const char *kind;
    int processes, threads, java_threads;
    const char *total, *share, *wait; /* what the rows are called */
    bool ours;                        /* the share is this library's, not the JVM's */
    double least_share;               /* per cent; 0: no target */
    double most_wait_ms;              /* 0: no target */
} setting;

/* The first is the demo's: a quarter of the threads is Java's. */
static const setting settings[] = {
    {"lock", 3, 4, 4, "one name, beside a JVM of 4 threads: turns", "of these, the JVM's", "the JVM's turn, p99", false, 12, WAIT_MS},
    {"lock", 8, 1, 1, "one name, beside a JVM of 1 thread: turns", "of these, the JVM's", "the JVM's turn, p99", false, 0, WAIT_MS},
    {"spin", 1, 8, 8, "spin, one name, beside a JVM of 8 threads: turns", "of these, rlock's", "the JVM's turn, p99", true, 33.3, 0},
};

static bool measure_one(bench_run *bench, const setting *of)
{
    mixed_side sides[MIXED_MOST + 1] = {{.who = "redisson", .kind = of->kind, .threads = of->java_threads}};
    for (int i = 1; i <= of->processes; i++)
        sides[i] = (mixed_side){.who = "rlock", .kind = of->kind, .threads = of->threads};
    if (!mixed_run(bench, sides, of->processes + 1, "bench:mixed", WARM_MS, SPAN_MS))
        return false;
    unsigned long long turns = 0;
    for (int i = 0; i <= of->processes; i++)
        turns += sides[i].turns;
    bench_value value = {.what = of->total, .who = "rlock", .threads = of->threads, .processes = of->processes};
    value.value = (double)turns / sides[0].seconds;
    value.unit = "a second";
    value_report(bench, &value);
    value.what = of->share;
    value.value = turns ? 100.0 * (double)(of->ours ? turns - sides[0].turns : sides[0].turns) / (double)turns : 0;
    value.unit = "%";
    value.least = of->least_share;
    value_report(bench, &value);
    value.what = of->wait;
    value.value = sides[0].p99_us / 1000;
    value.unit = "ms";
    value.least = 0;
    value.most = of->most_wait_ms;
    value_report(bench, &value);
    return true;
}

static bool measure(bench_run *bench)
{
    bool right = true;
    if (!contestant_is_there(bench, "redisson"))
        return true;
    for (size_t i = 0; right && i < sizeof settings / sizeof *settings; i++)
        right = measure_one(bench, &settings[i]);
    return right;
}

extern const bench_row row_beside_java;
const bench_row row_beside_java = {
    "beside-java", "Contended: processes of this library and a JVM with Redisson, at the same time, on one name", measure};
