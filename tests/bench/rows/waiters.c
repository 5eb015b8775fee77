/* Many threads that wait for one name: what each keeps in memory, and whether their number slows hand-overs. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/rows/row.h"
#include "tests/bench/support/value.h"

#include <stdio.h>
#include <string.h>

#define SIDES 3
#define SLICES 13 /* and one that warms up */
#define SLICE_MS 200
#define START_MS 30000

typedef struct crowd {
    int waiters;
    bench_contestant *process;
    double resident, stacks; /* bytes a waiter, beyond a thread that is parked */
    double per_s[SLICES];
    double cpu_us, server_us;
    uint64_t turns, violations;
    long long requests;
} crowd;

/* What a client sends; the commands of scripts are none of these. */
static long long requests_so_far(bench_redis *redis)
{
    static const char *const sent[] = {"evalsha", "eval", "subscribe", "unsubscribe", "ping"};
    long long calls = 0;
    for (size_t i = 0; i < sizeof sent / sizeof *sent; i++)
        calls += redis_calls(redis, sent[i]);
    return calls;
}

static bool set_up(bench_run *bench, crowd *side)
{
    long resident, stacks;
    side->process = contestant_start(bench, "waiters", bench->url);
    if (!side->process ||
        !contestant_ask(side->process, START_MS, "ok", "crew %d waiters-%d", side->waiters, side->waiters))
        return false;
    const char *heard = contestant_ask(side->process, START_MS, "waiting", "wait");
    if (!heard || sscanf(heard, "%ld %ld", &resident, &stacks) != 2)
        return false;
    side->resident = (double)resident / side->waiters;
    side->stacks = (double)stacks / side->waiters;
    return true;
}

/* `slice` -1 warms up. */
static bool let_go(bench_run *bench, crowd *side, int slice)
{
    unsigned long turns, violations;
    double seconds, cpu_us, server_us = redis_cpu_us(&bench->redis);
    long long requests = requests_so_far(&bench->redis);
    const char *heard = contestant_ask(side->process, START_MS, "done", "go %d", SLICE_MS);
    if (!heard || sscanf(heard, "%lu %lf %lf %lu", &turns, &seconds, &cpu_us, &violations) != 4)
        return false;
    side->violations += violations;
    if (slice < 0)
        return true;
    side->per_s[slice] = (double)turns / seconds;
    side->turns += turns;
    side->cpu_us += cpu_us;
    side->server_us += redis_cpu_us(&bench->redis) - server_us;
    side->requests += requests_so_far(&bench->redis) - requests;
    return true;
}

static void report(bench_run *bench, const crowd *side, const crowd *few)
{
    char what[3][96];
    double turns = side->turns ? (double)side->turns : 1;
    const char *const subjects[] = {"memory a waiter, beyond its stack", "hand-over rate beside that of 8 waiters",
                                    "requests a hand-over"};
    bench_result rate = {.what = "waiters on one name", .who = "rlock", .threads = side->waiters, .processes = 1,
                         .per_s = median_of(side->per_s, SLICES), .cpu_us = side->cpu_us / turns,
                         .server_cpu_us = side->server_us / turns, .violations = side->violations,
                         .plot = "waiters", .x = side->waiters};
    report_row(&bench->report, &rate);
    for (int i = 0; i < 3; i++)
        snprintf(what[i], sizeof what[i], "%d waiters: %s", side->waiters, subjects[i]);
    value_report(bench, &(bench_value){.what = what[2], .who = "rlock", .threads = side->waiters, .processes = 1,
                                       .value = (double)side->requests / turns, .unit = "requests", .most = 3});
    if (side == few)
        return;
    value_report(bench, &(bench_value){.what = what[0], .who = "rlock", .threads = side->waiters, .processes = 1,
                                       .value = side->resident - side->stacks, .unit = "bytes", .most = 1024});
    value_report(bench, &(bench_value){.what = what[1], .who = "rlock", .threads = side->waiters, .processes = 1,
                                       .value = median_ratio(side->per_s, few->per_s, SLICES).median, .unit = "×",
                                       .least = 0.8});
}

static bool measure(bench_run *bench)
{
    crowd sides[SIDES] = {{.waiters = 8}, {.waiters = 1000}, {.waiters = 10000}};
    bool right = contestant_is_there(bench, "waiters");
    for (int i = 0; right && i < SIDES; i++)
        right = set_up(bench, &sides[i]);
    for (int slice = -1; right && slice < SLICES; slice++) {
        for (int i = 0; right && i < SIDES; i++)
            right = let_go(bench, &sides[i], slice);
    }
    for (int i = 0; i < SIDES; i++) {
        if (right)
            report(bench, &sides[i], &sides[0]);
        if (sides[i].violations > 0)
            right = false;
        if (sides[i].process)
            contestant_end(sides[i].process);
    }
    return right;
}

extern const bench_row row_waiters;
const bench_row row_waiters = {
    "waiters", "Threads of one process that all wait for one name; memory is beside the same threads parked on a "
               "condition variable", measure};
