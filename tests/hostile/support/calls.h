/* Calls: every operation of every object, with arguments that dice choose. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HOSTILE_CALLS_H
#define HOSTILE_CALLS_H

#include "tests/support/dice.h"

#include <rlock/rlock.h>
#include <stdbool.h>

enum { CALLS_LOCKS = 33, CALLS_OBJECTS = 3, CALLS_PERMITS = 8 };

/* The handles of a client's threads. */
typedef struct handles {
    rlock_client *client;
    rlock *locks[CALLS_LOCKS]; /* of all kinds; multi and red locks among them */
    rlock_semaphore *semaphores[CALLS_OBJECTS];
    rlock_permit_semaphore *permit_semaphores[CALLS_OBJECTS];
    rlock_count_down_latch *latches[CALLS_OBJECTS];
} handles;

/* False: not all could be made. */
bool handles_make(handles *handles, rlock_client *client);
void handles_free(handles *handles);

/* A thread that calls. */
typedef struct caller {
    handles *with;
    dice dice;
    rlock_cancel *cancel;                /* the test ends waits by it that have no other end */
    rlock_permit permits[CALLS_PERMITS]; /* that it has, or had */
    const char *wrong;                   /* a forbidden effect of a call; NULL: none yet */
} caller;

typedef struct call {
    const char *name;
    int weight;
    bool endless; /* ends only when the client is closed */
    rlock_status (*run)(caller *caller);
} call;

/* One of them, by weight; with `endless`, of all, else of those that end by themselves. */
const call *calls_choose(dice *dice, bool endless);
/* Runs it, and checks its status, its message and its answer: `wrong`. */
rlock_status calls_run(const call *call, caller *caller);

#endif
