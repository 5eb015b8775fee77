/* Contended: all threads of one process on one name, with local hand-over allowed; and what that does to another
 * process that wants the same name. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/rows/row.h"

#include <stdio.h>

static const int thread_counts[] = {2, 8, 32};
static const bench_target target = {.redisson = 50};

static bool measure_one(bench_run *bench, int threads)
{
    bench_side sides[] = {
        {.who = "rlock", .kind = "lock+local", .threads = threads, .names = "one:bench:local:rlock",
         .slices = 2, .ms = 100},
        {.who = "redisson", .kind = "lock", .threads = threads, .names = "one:bench:local:redisson"},
    };
    return contest_measure(bench, sides, 2, "one name, local hand-over", &target);
}

/* --- another process --- */

#define NAME "one:bench:local:shared"
#define LOCAL_THREADS 8
#define SPAN_MS 4000
#define MOST_MS 15 /* a row of local turns lasts 10 ms at most; the rest is for the hand-over on loaded cores */

typedef struct turns_taken {
    unsigned long long turns, violations;
    double seconds, cpu_us, p50_us, p99_us;
} turns_taken;

static bool hear(bench_contestant *contestant, turns_taken *taken)
{
    const char *line = contestant_hear(contestant, "done", SPAN_MS + 30000);
    return line && sscanf(line, "%llu %lf %lf %lf %lf %llu", &taken->turns, &taken->seconds, &taken->cpu_us,
                          &taken->p50_us, &taken->p99_us, &taken->violations) == 6;
}

static bool ask_crew(bench_contestant *contestant, const char *kind, int threads)
{
    return contestant && contestant_ask(contestant, 10000, "ok", "crew %s %d " NAME, kind, threads);
}

static bool work_beside(bench_contestant *local, bench_contestant *other, turns_taken *taken)
{
    turns_taken locals = {0};
    bool right = contestant_tell(local, "go %d", SPAN_MS) && contestant_tell(other, "go %d", SPAN_MS) &&
                 hear(local, &locals) && hear(other, taken);
    if (right && locals.violations + taken->violations > 0) {
        fprintf(stderr, "bench: VIOLATION: beside local hand-over two held one lock, %llu times\n",
                locals.violations + taken->violations);
        right = false;
    }
    return right;
}

static void report_other(bench_run *bench, const turns_taken *taken)
{
    char text[64];
    snprintf(text, sizeof text, "≤ %d ms", MOST_MS);
    bench_result result = {.what = "one name beside another process's local hand-over", .who = "rlock", .threads = 1,
                           .processes = 1, .per_s = (double)taken->turns / taken->seconds, .p50_us = taken->p50_us,
                           .p99_us = taken->p99_us, .value = taken->p99_us / 1000,
                           .unit = "ms of waiting for a turn (p99)", .target = text};
    result.verdict = taken->turns > 0 && result.value <= MOST_MS ? VERDICT_MET : VERDICT_MISSED;
    report_row(&bench->report, &result);
}

static bool measure_other(bench_run *bench)
{
    turns_taken taken = {0};
    bench_contestant *local = contestant_start(bench, "rlock", bench->url);
    bench_contestant *other = contestant_start(bench, "rlock", bench->url);
    bool right = ask_crew(local, "lock+local", LOCAL_THREADS) && ask_crew(other, "lock", 1) &&
                 work_beside(local, other, &taken);
    if (right)
        report_other(bench, &taken);
    if (local)
        contestant_end(local);
    if (other)
        contestant_end(other);
    return right;
}

static bool measure(bench_run *bench)
{
    bool right = true;
    for (size_t i = 0; right && i < sizeof thread_counts / sizeof *thread_counts; i++)
        right = measure_one(bench, thread_counts[i]);
    return right && measure_other(bench);
}

extern const bench_row row_local;
const bench_row row_local = {
    "local", "Contended: all threads of one process on one name, with local hand-over allowed (localHandOver)", measure};
