/* Latency: a histogram of durations, exact to 3 %. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_LATENCY_H
#define CLI_LATENCY_H

#include <stdint.h>

#define LATENCY_FINE  5 /* 2^5 = 32 steps from each power of two to the next */
#define LATENCY_STEPS (64 << LATENCY_FINE)

typedef struct cli_latency {
    uint64_t counts[LATENCY_STEPS], total;
} cli_latency;

void latency_add(cli_latency *latency, uint64_t ns);
void latency_merge(cli_latency *into, const cli_latency *from);
/* The duration in µs that `share` of all durations (0 to 1) do not exceed; 0: there are none. */
double latency_quantile_us(const cli_latency *latency, double share);

#endif
