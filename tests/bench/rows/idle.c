/* What a waiter costs the server while it waits: how many requests it sends in a second of that. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/rows/row.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define NAME "one:bench:idle"
#define ANSWER_MS 20000
#define SPAN_MS 1000
#define STEP_MS 100
#define STEPS_MAX 50

static const struct idle_case {
    const char *kind, *held_as;
    bool spins; /* asks again and again, as is meant */
} cases[] = {
    {"lock", "lock", false},           {"fair", "fair", false},           {"fenced", "fenced", false},
    {"non-reentrant", "lock", false},  {"read", "write", false},          {"write", "write", false},
    {"semaphore", "semaphore", false}, {"permit", "permit", false},       {"multi", "multi", false},
    {"spin", "lock", true},
};

static long long number_behind(bench_redis *redis, const char *section, const char *field)
{
    redisReply *reply = redis_ask(redis, "INFO %s", section);
    const char *at = strstr(reply->str, field);
    long long number = at ? atoll(at + strlen(field)) : 0;
    freeReplyObject(reply);
    return number;
}

/* Those of this connection are taken off, and what keeps idle connections up: JVMs that wait for other rows have
 * dozens of them. What scripts do counts as well. */
static long long commands_so_far(bench_redis *redis)
{
    static long long own;
    long long pings = number_behind(redis, "commandstats", "cmdstat_ping:calls=");
    long long commands = number_behind(redis, "stats", "\ntotal_commands_processed:");
    own += 2;
    return commands - pings - own;
}

static long long commands_in(bench_redis *redis, int ms)
{
    struct timespec span = {ms / 1000, (long)(ms % 1000) * 1000000};
    long long before = commands_so_far(redis);
    clock_nanosleep(CLOCK_MONOTONIC, 0, &span, NULL);
    return commands_so_far(redis) - before;
}

/* Until it has asked, subscribed and asked again. One that spins never rests. */
static void settle(bench_redis *redis, const struct idle_case *at)
{
    int quiet = 0;
    bool asked = false;
    for (int i = 0; i < STEPS_MAX && quiet < 2 && !(at->spins && i >= 5); i++) {
        bool some = commands_in(redis, STEP_MS) > 0;
        asked = asked || some;
        quiet = some || !asked ? 0 : quiet + 1;
    }
}

static bool wait_and_count(bench_run *bench, const struct idle_case *at, bench_contestant *holder,
                           bench_contestant *waiter, long long *commands)
{
    if (!contestant_ask(holder, ANSWER_MS, "ok", "crew %s 1 " NAME, at->held_as) ||
        !contestant_ask(waiter, ANSWER_MS, "ok", "crew %s 1 " NAME, at->kind) ||
        !contestant_ask(holder, ANSWER_MS, "ok", "take") || !contestant_tell(waiter, "go 1"))
        return false;
    settle(&bench->redis, at);
    *commands = commands_in(&bench->redis, SPAN_MS);
    return contestant_ask(holder, ANSWER_MS, "ok", "give") && contestant_hear(waiter, "done", ANSWER_MS);
}

static void report_waiter(bench_run *bench, const struct idle_case *at, long long commands)
{
    char what[64];
    snprintf(what, sizeof what, "a waiter, %s", at->kind);
    bench_result result = {.what = what, .who = "rlock", .threads = 1, .processes = 1, .value = (double)commands,
                           .unit = "commands in a second of waiting"};
    if (!at->spins) {
        result.target = "0";
        result.verdict = commands ? VERDICT_MISSED : VERDICT_MET;
    }
    report_row(&bench->report, &result);
}

/* Over the unix socket, where no idle connection is pinged meanwhile. */
static bool measure_one(bench_run *bench, const struct idle_case *at)
{
    long long commands = 0;
    bench_contestant *holder = contestant_start(bench, "rlock", bench->redis.unix_url);
    bench_contestant *waiter = contestant_start(bench, "rlock", bench->redis.unix_url);
    bool right = holder && waiter && wait_and_count(bench, at, holder, waiter, &commands);
    if (right)
        report_waiter(bench, at, commands);
    if (waiter)
        contestant_end(waiter);
    if (holder)
        contestant_end(holder);
    freeReplyObject(redis_ask(&bench->redis, "FLUSHALL"));
    return right;
}

static bool measure(bench_run *bench)
{
    bool right = true;
    for (size_t i = 0; right && i < sizeof cases / sizeof *cases; i++)
        right = measure_one(bench, &cases[i]);
    return right;
}

extern const bench_row row_idle;
const bench_row row_idle = {"idle", "What one waiter sends to the server while it waits", measure};
