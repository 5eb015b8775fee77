/* A target: what a rate has to reach, and whether it does. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BENCH_TARGET_H
#define BENCH_TARGET_H

#include "tests/bench/support/report.h"

#include <stdbool.h>

#define TARGET_TEXT 128

typedef struct bench_target {
    double raw, redisson; /* at least so many times the rate of each; 0: nothing is asked */
    int connections;      /* at most; 0: nothing is asked */
    bool p99;             /* within the P99 of Redisson */
} bench_target;

/* Sets the target's text, which is put into `text`, and the verdict by the medians: none when one of them is
 * wanting and the others are met. `redisson` is what came out for it, NULL when it was left out. */
void target_judge(const bench_target *target, bench_result *result, const bench_result *redisson,
                  char text[TARGET_TEXT]);
/* The same for a cost, of which there may be at most so many times that of each (0: nothing is asked). */
void target_judge_cost(double raw, double redisson, bench_result *result, char text[TARGET_TEXT]);

#endif
