/* Findings: what must not be. The first one ends the run. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIM_FINDING_H
#define SIM_FINDING_H

#include <stdbool.h>
#include <stddef.h>

/* Says what was promised and what happened instead, with the timeline, and ends this run's process. */
__attribute__((format(printf, 1, 2), noreturn)) void finding(const char *format, ...);

/* A line of the timeline: `who` at the present instant. */
__attribute__((format(printf, 2, 3))) void timeline(const char *who, const char *format, ...);
void timeline_print(void);
/* False: its lines are not even written. A run that finds something is repeated with them. */
extern bool timeline_kept;

/* How a run's process ends. */
enum { RUN_WELL = 0, RUN_FOUND = 3, RUN_BROKEN = 4 };

#endif
