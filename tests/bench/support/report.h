/* The report: a table for people and the same rows as JSON. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BENCH_REPORT_H
#define BENCH_REPORT_H

#include "tests/bench/support/duel.h"

#include <stdio.h>

typedef struct bench_report {
    FILE *json; /* NULL: the table only */
    int rows;
} bench_report;

typedef struct bench_row {
    const char *what;
    int threads;
    double per_s, cpu_us, server_us;
    bench_ratio ratio;  /* against raw; all 1 for raw itself, 0: there is none */
    double ratio_redisson; /* against the real Redisson; 0: it was not measured */
    int connections;
    double p50_us, p99_us;
    const char *remark; /* in the table only */
} bench_row;

/* Exits the program when the file cannot be written; NULL: no file. */
void report_open(bench_report *report, const char *json_path);
void report_heading(const char *text);
void report_row(bench_report *report, const bench_row *row);
void report_close(bench_report *report);

#endif
