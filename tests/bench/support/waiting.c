/* What a waiter costs the server while it waits. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/support/waiting.h"

#include "tests/bench/support/ours.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>

#define NAME "bench:waited"
#define SETTLE_TRIES 50 /* of 100 ms each */

typedef struct bench_waiter {
    bench_object *object;
    bool right;
    atomic_bool done;
} bench_waiter;

static void *wait_for_it(void *arg)
{
    bench_waiter *waiter = arg;
    waiter->right = object_take(waiter->object) && object_give(waiter->object);
    atomic_store(&waiter->done, true);
    return NULL;
}

static void pass(int ms)
{
    struct timespec span = {ms / 1000, (long)(ms % 1000) * 1000000};
    clock_nanosleep(CLOCK_MONOTONIC, 0, &span, NULL);
}

/* Commands that the server gets in so many ms from anybody but us; those of its scripts count, too. */
static long long commands_in(bench_redis *redis, int ms)
{
    long long before = redis_commands(redis);
    pass(ms);
    return redis_commands(redis) - before;
}

/* Of these the scripts alone. */
static long long scripts_in(bench_redis *redis, int ms)
{
    long long before = redis_calls(redis, "evalsha");
    pass(ms);
    return redis_calls(redis, "evalsha") - before;
}

/* Waits until the waiter has asked, subscribed and asked again. One that spins never rests. */
static void settle(bench_redis *redis, const bench_kind *kind, long long scripts_before)
{
    int quiet = 0;
    for (int i = 0; i < SETTLE_TRIES && quiet < 2 && !(kind->spins && i >= 5); i++) {
        bool asked = redis_calls(redis, "evalsha") + redis_calls(redis, "eval") > scripts_before;
        quiet = commands_in(redis, 100) || !asked ? 0 : quiet + 1;
    }
}

static void report_waiter(bench_report *report, const bench_kind *kind, long long requests)
{
    char what[64];
    snprintf(what, sizeof what, "requests of a %s waiter", kind->name);
    bench_row row = {.what = what, .threads = 1, .per_s = (double)requests};
    if (!kind->spins)
        row.remark = requests ? "MISSED: target 0" : "met: target 0";
    report_row(report, &row);
}

bool waiting_measure(bench_redis *redis, bench_report *report, const bench_kind *kind)
{
    /* Of different clients: one would not ask the server for what it holds itself. */
    rlock_client *holding = ours_client(redis), *waiting = ours_client(redis);
    bench_object *held = object_open(kind->held_as ? kind_named(kind->held_as) : kind, holding, NAME);
    bench_waiter waiter = {.object = object_open(kind, waiting, NAME)};
    pthread_t thread;
    bool right = object_take(held);
    long long scripts = redis_calls(redis, "evalsha") + redis_calls(redis, "eval");
    if (right && pthread_create(&thread, NULL, wait_for_it, &waiter) == 0) {
        settle(redis, kind, scripts);
        long long requests = kind->spins ? scripts_in(redis, 1000) : commands_in(redis, 1000);
        bool waited = !atomic_load(&waiter.done);
        if (!waited)
            fprintf(stderr, "bench: the %s waiter did not wait\n", kind->name);
        right = object_give(held);
        if (right)
            pthread_join(thread, NULL);
        right = right && waited && waiter.right;
        if (right)
            report_waiter(report, kind, requests);
    }
    if (right) { /* else it may be waiting still */
        object_close(held);
        object_close(waiter.object);
        rlock_client_close(waiting);
        rlock_client_close(holding);
        freeReplyObject(redis_ask(redis, "FLUSHALL"));
    }
    return right;
}
