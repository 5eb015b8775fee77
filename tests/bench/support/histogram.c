/* A histogram of latencies, exact to 3 %, that costs a thread a few instructions a turn. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/support/histogram.h"

#include <inttypes.h>
#include <stdlib.h>

void histogram_print(const bench_histogram *histogram, FILE *to)
{
    const char *comma = "";
    for (unsigned i = 0; i < HISTOGRAM_BUCKETS; i++) {
        if (!histogram->counts[i])
            continue;
        fprintf(to, "%s%u:%" PRIu64, comma, i, histogram->counts[i]);
        comma = ",";
    }
}

void histogram_read(bench_histogram *into, const char *text)
{
    for (char *end;; text = end + 1) {
        unsigned long bucket = strtoul(text, &end, 10);
        if (end == text || *end != ':' || bucket >= HISTOGRAM_BUCKETS)
            return;
        text = end + 1;
        uint64_t count = strtoull(text, &end, 10);
        into->counts[bucket] += count;
        into->total += count;
        if (*end != ',')
            return;
    }
}

void histogram_merge(bench_histogram *into, const bench_histogram *from)
{
    for (unsigned i = 0; i < HISTOGRAM_BUCKETS; i++)
        into->counts[i] += from->counts[i];
    into->total += from->total;
}

/* The middle of a bucket, in ns. */
static double bucket_ns(unsigned bucket)
{
    unsigned shift = bucket >> HISTOGRAM_FINE;
    if (shift == 0)
        return bucket;
    shift--; /* the first two rows of buckets are both one ns wide */
    uint64_t low = (uint64_t)(bucket - (shift << HISTOGRAM_FINE)) << shift;
    return (double)low + (double)(UINT64_C(1) << shift) / 2;
}

double histogram_quantile_us(const bench_histogram *histogram, double share)
{
    double wanted = share * (double)histogram->total;
    uint64_t seen = 0;
    for (unsigned i = 0; i < HISTOGRAM_BUCKETS; i++) {
        seen += histogram->counts[i];
        if (seen && (double)seen >= wanted)
            return bucket_ns(i) / 1000;
    }
    return 0;
}
