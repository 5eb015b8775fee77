/* Either: the calls of a permit-expirable semaphore, made in C or in Java. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef EITHER_H
#define EITHER_H

#include "tests/interop/support/waiter.h"

#include <rlock/rlock.h>
#include <stdatomic.h>
#include <sys/types.h>

#define PERMITS_NAME    "pe"
#define PERMITS_AT_ONCE 8

/* The semaphore of that name, by the stage's client. */
extern rlock_permit_semaphore *our_permits;

/* After the stage with Java was opened; instead of waiter_stage_close. */
void either_open(void);
void either_close(void);

/* Java's answer; an exception fails the test. */
#define ASK_PERMITS(...) either_said(ASK(java, "t1", "permits", PERMITS_NAME, __VA_ARGS__))
const answer *either_said(const answer *got);
bool either_is_true(const answer *got);

bool either_set_first(bool in_java, int count);
void either_set(bool in_java, int count);
void either_add(bool in_java, int count);
/* Without waiting; whether it got them. */
bool either_take(bool in_java, int count, int64_t lease_ms, rlock_permit *permits);
/* Fails the test when they were not there. */
void either_give(bool in_java, const rlock_permit *permits, int count);
bool either_try_give(bool in_java, const rlock_permit *permit);
/* How many of them: all or none. */
int either_try_give_many(bool in_java, const rlock_permit *permits, int count);
bool either_update(bool in_java, const rlock_permit *permit, int64_t lease_ms);
int64_t either_lease_left(bool in_java, const rlock_permit *permit);
/* Both sides are asked for each number. */
void assert_permits(int available, int acquired, int total);
/* Ids as Java writes several: between commas. Gives their number. */
int either_read_ids(const char *text, rlock_permit permits[PERMITS_AT_ONCE]);

/* Calls that wait, each with a number of its own. */
#define PERMIT_DEMANDS 16
typedef struct permit_demand {
    int count;
    int64_t wait_ms, lease_ms;
    rlock_permit permits[PERMITS_AT_ONCE];
} permit_demand;
extern permit_demand permit_demands[PERMIT_DEMANDS];
waiter *either_begin_demand(bool in_java, int which, int count, int64_t wait_ms, int64_t lease_ms);
/* Asleep when it comes back. */
waiter *either_demand(bool in_java, int which, int count, int64_t wait_ms, int64_t lease_ms);
/* What it got, once it has been served. */
const rlock_permit *either_got(waiter *self, int which);

/* A C process with a client of that name and the watchdog of STAGE_QUICK, which holds a permit when the call comes back. */
#define PERMIT_VICTIM "victim"
typedef struct permit_holder {
    char url[256];
    int64_t lease_ms;
    rlock_permit permit;
    atomic_int holds; /* 1: it has the permit; -1: it could not */
} permit_holder;
/* `holder`: shared memory. */
pid_t permit_holder_start(permit_holder *holder, int64_t lease_ms);

#endif
