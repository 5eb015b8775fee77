/* A duel: two sides work in turn, slice by slice, so that what drifts on the machine hits both;
 * what counts is the median of the ratios of neighbouring slices. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/support/duel.h"

#include <stdlib.h>

#define WARM_UP (-1)

static bool fight_one(bench_redis *redis, bench_side *side, int index, int ms)
{
    if (!side->crew)
        return true;
    long long scripts_before = redis_calls(redis, "evalsha");
    double server_before_us = redis_cpu_us(redis);
    bench_slice slice = crew_work(side->crew, ms);
    double server_us = redis_cpu_us(redis) - server_before_us;
    side->scripts += redis_calls(redis, "evalsha") - scripts_before;
    side->all_turns += slice.turns;
    if (slice.failed)
        return false;
    if (index == WARM_UP) {
        crew_forget(side->crew);
        return true;
    }
    side->per_s[index] = (double)slice.turns / slice.seconds;
    side->turns += slice.turns;
    side->seconds += slice.seconds;
    side->cpu_us += slice.cpu_us;
    side->server_us += server_us;
    int connections = redis_connections(redis, side->not_named);
    if (side->connections < connections)
        side->connections = connections;
    return true;
}

static void sum_up_latencies(bench_side *side)
{
    if (!side->crew)
        return;
    bench_histogram *sum = calloc(1, sizeof *sum);
    if (!sum)
        abort();
    crew_latencies(side->crew, sum);
    side->p50_us = histogram_quantile_us(sum, 0.5);
    side->p99_us = histogram_quantile_us(sum, 0.99);
    free(sum);
}

bool duel_fight(bench_redis *redis, bench_side *raw, bench_side *ours, int slices, int ms)
{
    bool fair = fight_one(redis, raw, WARM_UP, ms) && fight_one(redis, ours, WARM_UP, ms);
    for (int i = 0; fair && i < slices; i++) {
        bench_side *first = i % 2 ? ours : raw, *second = i % 2 ? raw : ours;
        fair = fight_one(redis, first, i, ms) && fight_one(redis, second, i, ms);
    }
    sum_up_latencies(raw);
    sum_up_latencies(ours);
    return fair;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The limits are those order statistics that enclose a median 95 times of 100, whatever the
 * ratios' distribution, as far as slices are independent: without them, one believes in noise. */
bench_ratio duel_ratio(const bench_side *raw, const bench_side *ours, int slices)
{
    double ratios[DUEL_SLICES_MAX];
    for (int i = 0; i < slices; i++)
        ratios[i] = ours->per_s[i] / raw->per_s[i];
    qsort(ratios, (size_t)slices, sizeof ratios[0], by_value);
    int away = 1, middle = slices / 2;
    while (away * away < slices) /* about 0.98 √slices ranks, rounded up */
        away++;
    int low = middle > away ? middle - away : 0;
    int high = middle + away < slices ? middle + away : slices - 1;
    double median = slices % 2 ? ratios[middle] : (ratios[middle - 1] + ratios[middle]) / 2;
    return (bench_ratio){median, ratios[low], ratios[high]};
}
