/* How long something took, many times: a histogram, exact to 3 %. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_LATENCY_H
#define CLI_LATENCY_H

#include <stdint.h>

#define LATENCY_FINE  5 /* 32 steps from each power of two to the next */
#define LATENCY_STEPS (64 << LATENCY_FINE)

typedef struct cli_latency {
    uint64_t counts[LATENCY_STEPS], total;
} cli_latency;

void latency_add(cli_latency *latency, uint64_t ns);
void latency_merge(cli_latency *into, const cli_latency *from);
/* What `share` of all took at most, in µs; 0 when there are none. */
double latency_quantile_us(const cli_latency *latency, double share);

#endif
