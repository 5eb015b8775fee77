/* A hunt for differences between a real server and the model: random sequences of commands, which phrases describe. What
 * differs is made as short as it gets, and shown. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TEST_HUNT_H
#define TEST_HUNT_H

#include "tests/simserver/support/pair.h"

/* Words divided by spaces; in them $x stands for something random, by the hunt's `blanks`; a blank of several words is
 * divided, too. "~" is the empty word. Ended by words NULL. */
typedef struct hunt_phrase {
    const char *words;
    int weight;
} hunt_phrase;

typedef struct hunt_blank {
    char name;                  /* as in $k */
    const char *const *choices; /* ended by NULL */
} hunt_blank;

typedef struct hunt_plan {
    const hunt_phrase *phrases;
    const hunt_blank *blanks; /* ended by a name 0 */
    const char *const *scripts; /* loaded first; ended by NULL; the list may be NULL */
    /* How many sequences, and of how many steps. In the environment, RLOCK_HUNT=20 runs 20 times as many sequences, and
     * RLOCK_HUNT_SEED=5000 begins with that seed: each sequence has the next one. */
    int sequences, steps;
} hunt_plan;

/* Fails the test at the first difference. */
void hunt_run(const hunt_plan *hunt);

#endif
