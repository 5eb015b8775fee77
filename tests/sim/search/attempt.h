/* Attempts: a plan run in a process of its own, whose end says what became of it. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIM_ATTEMPT_H
#define SIM_ATTEMPT_H

#include "tests/sim/program/run.h"

typedef struct attempt {
    bool found;
    run_counts counts;
    char *report; /* what it printed; to be freed */
    char gist[120]; /* of a finding: what it is about, without numbers and names */
} attempt;

/* Once, before the first: the same addresses in each run. Runs the program anew where the system randomizes them. */
void attempts_prepare(char **arguments);
/* In each process that has attempts: they write what they count where others do not. */
void attempts_begin(void);
extern bool attempts_show; /* the timeline of a run that ends well, too */
attempt attempt_run(const plan *plan);

#endif
