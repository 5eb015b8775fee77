/* A waiter: one call that may take its time, on a thread of its own, in C or in Java. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WAITER_H
#define WAITER_H

#include "tests/integration/support/actor.h"
#include "tests/interop/support/java.h"

typedef struct waiter waiter;

/* For .fini of a test: java_stage_close, and ends the waiters. */
void waiter_stage_close(void);

/* Begin the call; the waiter lives until waiter_stage_close. WAIT_IN_JAVA("semaphore", name,
 * "acquire", "1"): kind, name, operation, its arguments. */
waiter *wait_in_c(actor_call *call, void *arg);
waiter *wait_in_java(const char *const *words);
#define WAIT_IN_JAVA(...) wait_in_java((const char *const[]){__VA_ARGS__, NULL})

/* Waits until the call has been refused and its thread sleeps. */
void waiter_await_asleep(waiter *waiter);
bool waiter_ended(waiter *waiter, int64_t ms); /* whether it has; waits for it for at most ms */
/* Whether it came to what it waited for: RLOCK_OK, or an answer of Java's that is neither "false" nor a
 * try's empty one; RLOCK_TIMEOUT is false. Fails the test when it failed otherwise, or has not ended
 * after ms. */
bool waiter_served(waiter *waiter, int64_t ms);
/* Fails the test unless its wait of wait_ms came to nothing, and ended when that was over. */
void assert_timed_out(waiter *waiter, int64_t wait_ms);
const char *waiter_text(const waiter *waiter); /* what Java answered, once it has ended */

#endif
