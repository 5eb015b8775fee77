/* Latency: a histogram of durations, exact to 3 %. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/latency.h"

/* The highest bit gives the power of two, the LATENCY_FINE bits below it the step. Below 64 ns each value has
 * its own step. */
static unsigned step_of(uint64_t ns)
{
    unsigned power = 0;
    while (ns >> power >> (LATENCY_FINE + 1))
        power++;
    return (power << LATENCY_FINE) + (unsigned)(ns >> power);
}

static double step_ns(unsigned step)
{
    unsigned power = step >> LATENCY_FINE;
    if (power < 2)
        return step;
    power--;
    uint64_t from = (uint64_t)(step - (power << LATENCY_FINE)) << power;
    return (double)from + (double)(UINT64_C(1) << power) / 2;
}

void latency_add(cli_latency *latency, uint64_t ns)
{
    latency->counts[step_of(ns)]++;
    latency->total++;
}

void latency_merge(cli_latency *into, const cli_latency *from)
{
    for (unsigned i = 0; i < LATENCY_STEPS; i++)
        into->counts[i] += from->counts[i];
    into->total += from->total;
}

double latency_quantile_us(const cli_latency *latency, double share)
{
    uint64_t seen = 0;
    for (unsigned i = 0; i < LATENCY_STEPS; i++) {
        seen += latency->counts[i];
        if (seen && (double)seen >= share * (double)latency->total)
            return step_ns(i) / 1000;
    }
    return 0;
}
