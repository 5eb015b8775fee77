/* Searching: runs plan after plan, and shows what it finds. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIM_SEARCH_H
#define SIM_SEARCH_H

#include "tests/sim/program/plan.h"

/* What a run, or many, came to. */
typedef struct totals {
    int64_t runs, calls, faults, findings, steps, virtual_ms, processor_ms;
} totals;

#define SEARCH_JOBS 64 /* at most */

typedef struct search_settings {
    int seconds, jobs;      /* for so long, in so many processes, one a processor */
    int processor_seconds;  /* or for so much of the processor's time, each; 0: by the clock */
    int runs;               /* or so many runs, by all together; 0: for that time */
    int shrink_seconds;     /* for each finding; 0: it is shown as it is */
    int most_findings;      /* a process ends after so many */
    uint64_t seed;          /* the first; 0: chance */
    topology_kind topology; /* no other; TOPOLOGIES: each */
    const char *scenarios;  /* a folder of plans, which run with other seeds now and then, too; NULL: none */
    bool show;              /* a plan's run, too, in which nothing is found */
} search_settings;

/* Draws a plan from each seed, one after the other; or takes one of the scenarios, with that seed. */
totals search(const search_settings *by);
/* Runs that plan twice, which must go the same way. */
void search_plan(const search_settings *by, plan *plan, totals *to);
/* Runs that plan with so many seeds. */
totals search_around(const search_settings *by, const plan *plan, int seeds);

#endif
