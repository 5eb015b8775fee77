/* Figures: what was measured several times, as a line. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FAILOVER_FIGURES_H
#define FAILOVER_FIGURES_H

#include <stdint.h>

#define RUNS_MAX 50

/* BENCH_RUNS, from 1 to RUNS_MAX; 5 unless given. */
int runs_wanted(void);
/* Prints the median, the least and the most of `count` spans in ms, which it sorts; or that there are none. */
void figures_show(const char *what, int64_t *ms, int count);

#endif
