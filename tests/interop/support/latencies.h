/* Latencies: gathered round by round, shown in the log, held against a bound. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LATENCIES_H
#define LATENCIES_H

#include <stdint.h>

typedef struct latencies {
    const char *what; /* "Java's unlock to C's lock" */
    int64_t ns[256];
    int count;
} latencies;

void latency_add(latencies *latencies, int64_t ns);
/* Prints the least, the median and the most. */
void latencies_show(latencies *latencies);
/* The same; fails the test when one is beyond at_most_ms(most_ms). */
void latencies_within(latencies *latencies, int64_t most_ms);

#endif
