/* Beside: a part of a test that runs in a process of its own. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TEST_BESIDE_H
#define TEST_BESIDE_H

typedef struct beside beside;

/* Runs `live` with the argument there; it must not return. Of the test's descriptors it has these alone, which end with
 * -1. It dies with the test. Fails the test when there can be no process. */
beside *beside_start(void (*live)(void *argument), void *argument, const int *kept);
/* Called by it: its end. */
_Noreturn void beside_leave(void);

/* Waits for its end, or ends it; frees. */
void beside_await(beside *beside);
void beside_kill(beside *beside);

#endif
