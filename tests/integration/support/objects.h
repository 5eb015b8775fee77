/* Objects: semaphores and latches on the stage, calls of them for actors, and what they left on the server. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef OBJECTS_H
#define OBJECTS_H

#include "tests/integration/support/traffic.h"

#include <rlock/rlock.h>
#include <stdbool.h>
#include <stdint.h>

/* Handles that the stage keeps. */
rlock_semaphore *semaphore_of(rlock_client *client, const char *name);
rlock_permit_semaphore *permits_of(rlock_client *client, const char *name);
rlock_count_down_latch *latch_of(rlock_client *client, const char *name);

/* Calls for actor_begin, with all that they need. */
typedef struct taking {
    rlock_semaphore *semaphore;
    int permits;
    int64_t wait_ms;
    rlock_cancel *cancel;
} taking;
rlock_status take(void *taking);

typedef struct leasing {
    rlock_permit_semaphore *semaphore;
    int count;
    int64_t wait_ms, lease_ms;
    rlock_cancel *cancel;
    rlock_permit *permits;
} leasing;
rlock_status lease(void *leasing);

typedef struct awaiting {
    rlock_count_down_latch *latch;
    int64_t wait_ms;
    rlock_cancel *cancel;
} awaiting;
rlock_status await_open(void *awaiting);

/* What the handles say; fail the test when they don't. */
int available(rlock_semaphore *semaphore);
int permits_available(rlock_permit_semaphore *semaphore);
int permits_taken(rlock_permit_semaphore *semaphore);
int permits_total(rlock_permit_semaphore *semaphore);
int64_t count_of(rlock_count_down_latch *latch);

/* The whole keyspace, in the form of server_keyspace(); and what was said since the last look. */
void assert_keys(const char *expected);
void assert_said(monitor *tap, const char *expected);
/* A permit's score on the server; 0: none. */
int64_t expiry_of(const char *name, const rlock_permit *permit);
int64_t server_now_ms(void);

/* Waits until the one or more listen on the semaphore's channel, or on the latch's. */
bool wait_semaphore_heard(const char *name, int64_t listeners);
bool wait_latch_heard(const char *name, int64_t listeners);

/* Threads that take turns on a counter that nothing else protects: each enters its object, adds one to what
 * it read, and leaves. Fails the test unless all succeed within ms, never two inside, and no turn is lost. */
typedef struct passage {
    rlock_status (*enter)(void *object, rlock_permit *permit);
    rlock_status (*leave)(void *object, rlock_permit *permit);
} passage;
extern const passage by_semaphore, by_permit;
void guard_counter(const passage *way, void *const *objects, int threads, int turns, int64_t ms);

#endif
