/* The rows of the report: one file a group of them, each listed in rows.c. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BENCH_ROW_H
#define BENCH_ROW_H

#include "tests/bench/support/contest.h"

#include <stdbool.h>

typedef struct bench_row {
    const char *name;              /* for --only */
    const char *about;             /* the heading, which also says what is beside what */
    bool (*measure)(bench_run *bench); /* False: something of ours failed, or a violation; it has been said */
} bench_row;

/* In the order of the report; NULL ends them. */
extern const bench_row *const rows[];

#endif
