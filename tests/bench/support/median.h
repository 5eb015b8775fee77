/* Medians, and how far they can be believed. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BENCH_MEDIAN_H
#define BENCH_MEDIAN_H

typedef struct bench_ratio {
    double median, low, high; /* the true median lies between these, 95 times of 100; all 0: there is none */
} bench_ratio;

double median_of(const double *values, int count);
/* Of over[i] / under[i]. */
bench_ratio median_ratio(const double *over, const double *under, int count);

#endif
