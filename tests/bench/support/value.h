/* A value: a row of the report that is no rate, as bytes a hold, with what it may be at most or has to be. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BENCH_VALUE_H
#define BENCH_VALUE_H

#include "tests/bench/support/bench.h"

#include <stdint.h>

typedef struct bench_value {
    const char *what, *who;
    int threads, processes; /* 0: does not apply */
    double value;
    const char *unit;
    double most, least;     /* the target; 0: none of that kind */
    const char *target;     /* in words; NULL: as "≤ 200 bytes" */
    double redisson;        /* the same of Redisson; 0: not measured */
    uint64_t violations;
    const char *plot;       /* the sweep that it is a point of; NULL: of none */
    double x;
} bench_value;

void value_report(bench_run *bench, const bench_value *value);

#endif
