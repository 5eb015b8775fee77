/* A crowd: threads that take turns under one lock on a counter that nothing else protects. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CROWD_H
#define CROWD_H

#include <pthread.h>
#include <rlock/rlock.h>
#include <stdatomic.h>
#include <stdint.h>

#define CROWD_MAX 128

typedef struct crowd crowd;

typedef struct member {
    crowd *crowd;
    rlock *lock;
    pthread_t thread;
    rlock_status status; /* of the first call that failed */
    char error[256];
} member;

struct crowd {
    const char *name;
    int turns;       /* of each member */
    int64_t wait_ms; /* a turn for which it would wait longer is left out; 0: none is */
    int64_t hold_ms; /* how long a turn lasts */
    int nested;      /* how many more times each takes the lock in its turn */

    /* What came of it. The counter is atomic only so that sanitizers allow it: each turn reads
     * it, and later writes what it read plus one. */
    atomic_int counter, inside, most_inside;
    atomic_int ended;
    atomic_bool over; /* crowd_end */
    member members[CROWD_MAX];
    int count;
};

/* One more thread, which uses a handle of its own. */
void crowd_add(crowd *crowd, rlock_client *client);
/* Runs all; fails the test when a call fails or not all have ended after ms. */
void crowd_run(crowd *crowd, int64_t ms);
/* The two halves of crowd_run. */
void crowd_begin(crowd *crowd);
void crowd_finish(crowd *crowd, int64_t ms);
/* In between: each ends with its present turn. */
void crowd_end(crowd *crowd);

#endif
