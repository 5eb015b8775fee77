/* A target: what a rate has to reach, and whether it does. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BENCH_TARGET_H
#define BENCH_TARGET_H

#include "tests/bench/support/report.h"

#define TARGET_TEXT 128

typedef struct bench_target {
    double raw, redisson; /* at least so many times the rate of each; 0: nothing is asked */
    int connections;      /* at most; 0: nothing is asked */
} bench_target;

/* Sets the target's text, which is put into `text`, and the verdict by the medians: none when one of them is
 * wanting and the others are met. */
void target_judge(const bench_target *target, bench_result *result, char text[TARGET_TEXT]);

#endif
