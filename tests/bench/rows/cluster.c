/* A cluster of three masters beside one master. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/rows/row.h"
#include "tests/bench/support/cluster.h"
#include "tests/bench/support/value.h"

#include <stdio.h>

#define THREADS 64
#define SLICES 41
#define SLICE_MS 100
#define ANSWER_MS 30000

typedef struct side {
    const char *what, *url;
    bench_contestant *process;
    uint64_t violations;
    double per_s[SLICES], server_us[SLICES], cpu_us[SLICES], p50_us[SLICES], p99_us[SLICES];
} side;

static bool set_up(bench_run *bench, side *self)
{
    self->process = contestant_start(bench, "rlock", self->url);
    return self->process && contestant_ask(self->process, ANSWER_MS, "ok", "crew lock %d own", THREADS) &&
           contestant_ask(self->process, ANSWER_MS, "done", "go 300");
}

static bool work(side *self, int slice, double (*server_us)(const void *), const void *servers)
{
    unsigned long long turns, violations;
    double seconds, cpu_us, before_us = server_us(servers);
    const char *heard = contestant_ask(self->process, ANSWER_MS, "done", "go %d", SLICE_MS);
    if (!heard || sscanf(heard, "%llu %lf %lf %lf %lf %llu", &turns, &seconds, &cpu_us, &self->p50_us[slice],
                         &self->p99_us[slice], &violations) != 6 || turns == 0)
        return false;
    self->violations += violations;
    self->per_s[slice] = (double)turns / seconds;
    self->cpu_us[slice] = cpu_us / (double)turns;
    self->server_us[slice] = (server_us(servers) - before_us) / (double)turns;
    return true;
}

static double of_one(const void *servers)
{
    return redis_cpu_us(servers);
}

static double of_three(const void *servers)
{
    return cluster_cpu_us(servers);
}

static void report(bench_run *bench, const side *self, const side *one)
{
    bench_result result = {.what = self->what, .who = "rlock", .threads = THREADS, .processes = 1,
                           .per_s = median_of(self->per_s, SLICES), .cpu_us = median_of(self->cpu_us, SLICES),
                           .server_cpu_us = median_of(self->server_us, SLICES), .p50_us = median_of(self->p50_us, SLICES),
                           .p99_us = median_of(self->p99_us, SLICES), .violations = self->violations};
    if (self != one) {
        bool faster = median_ratio(self->per_s, one->per_s, SLICES).median >= 2;
        bool cheaper = median_ratio(self->server_us, one->server_us, SLICES).median <= 1;
        result.target = "≥ 2 × one master, or no more server CPU a pair";
        result.verdict = faster || cheaper ? VERDICT_MET : VERDICT_MISSED;
    }
    report_row(&bench->report, &result);
    if (self == one)
        return;
    value_report(bench, &(bench_value){.what = "rate beside one master", .who = "rlock", .threads = THREADS,
                                       .processes = 1, .unit = "×",
                                       .value = median_ratio(self->per_s, one->per_s, SLICES).median});
    value_report(bench, &(bench_value){.what = "server CPU a pair beside one master", .who = "rlock", .threads = THREADS,
                                       .processes = 1, .unit = "×",
                                       .value = median_ratio(self->server_us, one->server_us, SLICES).median});
}

static bool measure(bench_run *bench)
{
    bench_cluster cluster = {0};
    side one = {.what = "one master", .url = bench->redis.tcp_url};
    side three = {.what = "cluster of 3 masters", .url = cluster.url};
    bool right = cluster_start(&cluster, bench->scratch) && set_up(bench, &one) && set_up(bench, &three);
    for (int slice = 0; right && slice < SLICES; slice++)
        right = work(&one, slice, of_one, &bench->redis) && work(&three, slice, of_three, &cluster);
    if (right) {
        report(bench, &one, &one);
        report(bench, &three, &one);
    }
    right = right && one.violations == 0 && three.violations == 0;
    if (one.process)
        contestant_end(one.process);
    if (three.process)
        contestant_end(three.process);
    cluster_stop(&cluster);
    return right;
}

extern const bench_row row_cluster;
const bench_row row_cluster = {
    "cluster", "Lock and unlock, each thread on a name of its own, in a cluster beside one server; all over loopback",
    measure};
