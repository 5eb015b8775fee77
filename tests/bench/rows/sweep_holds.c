/* How renewing goes with the number of locks held, below the 100,000 and more of the row "holds", which adds to the
 * plots. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/rows/row.h"
#include "tests/bench/support/usage.h"
#include "tests/bench/support/value.h"

#include <stdio.h>
#include <time.h>

/* A tenth of the watchdog's default, as so few locks are renewed soon. */
#define TIMEOUT_MS 3000
#define THIRD_MS (TIMEOUT_MS / 3)
#define THIRDS 2 /* are watched */
#define TAKE_MS 60000
#define SIDES 2

static const int sizes[] = {1, 10, 100, 1000, 10000};

typedef struct holding {
    const char *who, *contestant;
    bench_contestant *process; /* NULL: it is left out */
    double cpu_us;
} holding;

static bool set_up(bench_run *bench, holding *self)
{
    char url[128];
    if (!contestant_is_there(bench, self->contestant))
        return true;
    snprintf(url, sizeof url, "%s?lockWatchdogTimeout=%d", bench->redis.tcp_url, TIMEOUT_MS);
    self->process = contestant_start(bench, self->contestant, url);
    return self->process;
}

static void let_pass(int ms)
{
    struct timespec span = {ms / 1000, ms % 1000 * 1000000};
    clock_nanosleep(CLOCK_MONOTONIC, 0, &span, NULL);
}

/* Both at once: they have a small share of a core. */
static bool measure_size(bench_run *bench, holding sides[SIDES], int count)
{
    char what[64];
    long long here = 0;
    for (int i = 0; i < SIDES; i++) {
        if (sides[i].process && !contestant_ask(sides[i].process, TAKE_MS, "ok", "hold %d", count))
            return false;
        here += sides[i].process ? count : 0;
    }
    let_pass(THIRD_MS);
    for (int i = 0; i < SIDES; i++)
        sides[i].cpu_us = sides[i].process ? usage_cpu_us(contestant_pid(sides[i].process)) : 0;
    let_pass(THIRDS * THIRD_MS);
    snprintf(what, sizeof what, "%d holds: CPU of the client, a renewal", count);
    for (int i = 0; i < SIDES; i++) {
        if (!sides[i].process)
            continue;
        double us = usage_cpu_us(contestant_pid(sides[i].process)) - sides[i].cpu_us;
        value_report(bench, &(bench_value){.what = what, .who = sides[i].who, .processes = 1, .unit = "µs",
                                           .value = us / THIRDS / count, .plot = "holds", .x = count});
    }
    if (redis_keys(&bench->redis) == here)
        return true;
    fprintf(stderr, "bench: of %lld locks %lld are there\n", here, redis_keys(&bench->redis));
    return false;
}

static bool measure(bench_run *bench)
{
    holding sides[SIDES] = {{.who = "rlock", .contestant = "holder"}, {.who = "redisson", .contestant = "redisson"}};
    bool right = true;
    for (int i = 0; right && i < SIDES; i++)
        right = set_up(bench, &sides[i]);
    for (size_t i = 0; right && i < sizeof sizes / sizeof *sizes; i++)
        right = measure_size(bench, sides, sizes[i]);
    for (int i = 0; i < SIDES; i++) {
        if (sides[i].process)
            contestant_quit(sides[i].process);
    }
    return right;
}

extern const bench_row row_sweep_holds;
const bench_row row_sweep_holds = {
    "sweep-holds", "1 to 10,000 locks held by one client, renewed by the watchdog every third of 3 s", measure};
