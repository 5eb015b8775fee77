/* A histogram of latencies, exact to 3 %, that costs a thread a few instructions a turn. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BENCH_HISTOGRAM_H
#define BENCH_HISTOGRAM_H

#include <stdint.h>
#include <stdio.h>

#define HISTOGRAM_FINE 5 /* 32 buckets for each power of two */
#define HISTOGRAM_BUCKETS ((64 - HISTOGRAM_FINE + 1) << HISTOGRAM_FINE)

typedef struct bench_histogram {
    uint64_t counts[HISTOGRAM_BUCKETS];
    uint64_t total;
} bench_histogram;

static inline unsigned histogram_bucket(uint64_t ns)
{
    if (ns < (1u << HISTOGRAM_FINE))
        return (unsigned)ns;
    unsigned shift = 63u - (unsigned)__builtin_clzll(ns) - HISTOGRAM_FINE;
    return (shift << HISTOGRAM_FINE) + (unsigned)(ns >> shift);
}

static inline void histogram_add(bench_histogram *histogram, uint64_t ns)
{
    histogram->counts[histogram_bucket(ns)]++;
    histogram->total++;
}

/* As `BUCKET:COUNT,…`, and adds such a text to `into`; one that cannot be read adds what came before. */
void histogram_print(const bench_histogram *histogram, FILE *to);
void histogram_read(bench_histogram *into, const char *text);
void histogram_merge(bench_histogram *into, const bench_histogram *from);
/* The latency that `share` of all stay within, in µs; 0 when there are none. */
double histogram_quantile_us(const bench_histogram *histogram, double share);

#endif
