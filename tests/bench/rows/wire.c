/* What a pair of lock and unlock costs the wire and the server: requests, bytes, CPU. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/rows/row.h"
#include "tests/bench/support/traffic.h"
#include "tests/bench/support/value.h"

#include <stdio.h>
#include <string.h>

#define THREADS 8
#define SLICES 15
#define ANSWER_MS 30000

typedef struct side {
    const char *who, *url;
    int warm_up_ms, slice_ms, watched_ms;
    bench_contestant *process;
    uint64_t violations;
    double sent[SLICES], received[SLICES], server_us[SLICES]; /* a pair */
    double requests;
} side;

/* Gives the pairs; 0: it failed. */
static double work(side *self, int ms)
{
    unsigned long long turns, violations;
    const char *heard = contestant_ask(self->process, ANSWER_MS, "done", "go %d", ms);
    if (!heard || sscanf(heard, "%llu %*f %*f %*f %*f %llu", &turns, &violations) != 2)
        return 0;
    self->violations += violations;
    return (double)turns;
}

static bool set_up(bench_run *bench, side *self)
{
    self->process = contestant_start(bench, self->who, self->url);
    return self->process && contestant_ask(self->process, ANSWER_MS, "ok", "crew lock %d own", THREADS) &&
           work(self, contestant_is_warm(self->process) ? 300 : self->warm_up_ms) > 0;
}

static bool measure_slice(bench_run *bench, side *self, int slice)
{
    bench_traffic before = traffic_now(&bench->redis);
    double server_us = redis_cpu_us(&bench->redis), pairs = work(self, self->slice_ms);
    server_us = redis_cpu_us(&bench->redis) - server_us;
    bench_traffic after = traffic_now(&bench->redis);
    if (pairs <= 0)
        return false;
    self->sent[slice] = (after.sent - before.sent) / pairs;
    self->received[slice] = (after.received - before.received) / pairs;
    self->server_us[slice] = server_us / pairs;
    return true;
}

static bool count_requests(bench_run *bench, side *self)
{
    redisContext *watch = traffic_watch(&bench->redis);
    double pairs = work(self, self->watched_ms);
    self->requests = pairs > 0 ? (double)traffic_requests(&bench->redis, watch) / pairs : 0;
    return pairs > 0;
}

/* --- the report --- */

enum { REQUESTS, BYTES, SENT, SERVER_US, SUBJECTS };

static void add_up(const side *self, double values[SUBJECTS])
{
    double sent = median_of(self->sent, SLICES), received = median_of(self->received, SLICES);
    values[REQUESTS] = self->requests;
    values[BYTES] = sent + received;
    values[SENT] = sent;
    values[SERVER_US] = median_of(self->server_us, SLICES);
}

/* `theirs`: what the targets are beside; NULL: there are none. */
static void report(bench_run *bench, const side *self, const double *theirs)
{
    static const struct {
        const char *what, *unit;
        double most, share; /* of Redisson's */
    } subjects[SUBJECTS] = {{"requests a pair", "requests", 2.001, 0}, /* a ping may be among the thousands */
                            {"bytes on the wire a pair, both ways", "bytes", 0, 0.7},
                            {"bytes that the client sends a pair", "bytes", 0, 0.7},
                            {"server CPU a pair", "µs", 0, 0.7}};
    bool ours = strcmp(self->who, "rlock") == 0;
    double values[SUBJECTS];
    add_up(self, values);
    for (int i = 0; i < SUBJECTS; i++) {
        bench_value value = {.what = subjects[i].what, .who = self->who, .threads = THREADS, .processes = 1,
                             .value = values[i], .unit = subjects[i].unit, .violations = self->violations};
        if (theirs)
            value.redisson = theirs[i];
        if (theirs && subjects[i].share > 0) {
            value.most = subjects[i].share * theirs[i];
            value.target = "≤ 0.7 × Redisson";
        } else if (ours && subjects[i].most > 0) {
            value.most = subjects[i].most;
            value.target = "≤ 2 requests";
        }
        value_report(bench, &value);
    }
}

static bool measure(bench_run *bench)
{
    side sides[] = {{.who = "rlock", .url = bench->url, .warm_up_ms = 100, .slice_ms = 50, .watched_ms = 20},
                    {.who = "redisson", .url = bench->redis.tcp_url, .warm_up_ms = 3000, .slice_ms = 150,
                     .watched_ms = 100}};
    int count = contestant_is_there(bench, "redisson") ? 2 : 1;
    bool right = true;
    for (int i = 0; right && i < count; i++)
        right = set_up(bench, &sides[i]);
    for (int slice = 0; right && slice < SLICES; slice++) {
        for (int i = 0; right && i < count; i++)
            right = measure_slice(bench, &sides[i], slice);
    }
    for (int i = 0; right && i < count; i++)
        right = count_requests(bench, &sides[i]);
    if (right) {
        double theirs[SUBJECTS];
        if (count == 2)
            add_up(&sides[1], theirs);
        report(bench, &sides[0], count == 2 ? theirs : NULL);
        if (count == 2)
            report(bench, &sides[1], NULL);
    }
    for (int i = 0; i < count; i++) {
        if (sides[i].violations > 0)
            right = false;
        if (sides[i].process)
            contestant_end(sides[i].process);
    }
    return right;
}

extern const bench_row row_wire;
const bench_row row_wire = {
    "wire", "What lock and unlock send and cost the server, 8 threads, each on a name of its own", measure};
