/* The report: a table for people as it goes, and the same rows as JSON. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BENCH_REPORT_H
#define BENCH_REPORT_H

#include "tests/bench/support/median.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

typedef enum bench_verdict { VERDICT_NONE, VERDICT_MISSED, VERDICT_MET } bench_verdict;

/* One row. What is 0 or NULL is not known, or does not apply, and is null in JSON. */
typedef struct bench_result {
    const char *what, *who; /* as "own names", "rlock" */
    int threads, processes; /* threads of each process */

    double per_s; /* pairs of lock and unlock, of all together */
    bench_ratio ratio_raw, ratio_redisson;
    bench_ratio ratio_rlock; /* how many times this contestant's turns rlock makes, in a contest of peers */
    double cpu_us, server_cpu_us; /* CPU time a pair, the contestant's and the server's */
    int connections;
    double p50_us, p99_us; /* of a pair */
    uint64_t violations;

    /* of a contest of peers */
    bool peer;
    const char *kind;       /* the contestant's: lock, fair, token */
    double handed_per_s;    /* of the pairs, those whose lock another contender had before */
    double wait_p50_us, wait_p99_us, longest_us; /* from asking for the lock until it was granted */
    double least, most;     /* turns of the least and of the most lucky contender, for each 1 of the average */
    double counted;         /* locks given back, as the server says, for each 1 that the contestant says */

    /* a row that is no rate; `unit` NULL: it is one */
    double value;
    const char *unit;

    const char *target; /* in words */
    bench_verdict verdict;
    const char *plot; /* the sweep that it is a point of */
    double x;
} bench_result;

typedef struct bench_report {
    FILE *json; /* NULL: the table only */
    char what[128]; /* of the last row of the table */
    const char *group, *about;
    int rows, missed;
    time_t began;
} bench_report;

/* What the figures were made with: `redis` is the server's version. Exits the program when the file cannot be
 * written; NULL: no file. */
void report_open(bench_report *report, const char *json_path, const char *command, const char *redis);
/* The name of the rows that follow, and what they are about. */
void report_group(bench_report *report, const char *name, const char *about);
void report_row(bench_report *report, const bench_result *result);
void report_close(bench_report *report);

#endif
