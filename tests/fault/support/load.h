/* Load: threads of two clients that take turns under a few locks for as long as a fault lasts, each name
 * guarding a counter that nothing else protects, and what they saw. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FAULT_LOAD_H
#define FAULT_LOAD_H

#include <rlock/rlock.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct load load;

/* Starts threads of two new clients with that query; from then on they lock and unlock, some turns three times over.
 * lease_ms: RLOCK_WATCHDOG, or a lease. */
load *load_start(const char *query, int64_t lease_ms);
/* The same with two clients of the test's, wherever they are connected. */
load *load_start_of(rlock_client *client, rlock_client *other, int64_t lease_ms);

/* The server's data is about to be lost, and has been: holds from before it and from after it may be
 * valid side by side, since no client can know. Holds taken in between count as neither. */
void load_data_lost_soon(load *load);
void load_data_lost(load *load);

/* Waits until every thread has had `turns` more turns; fails the test when one has not after ms. */
void load_await_turns(load *load, int turns, int64_t ms);
/* Ends the threads; fails the test when two valid holds of one name overlapped. */
void load_stop(load *load);

/* How many calls answered that, so far; how long the longest took. */
typedef enum load_call { LOAD_LOCK, LOAD_UNLOCK, LOAD_CALLS } load_call;
int load_answers(const load *load, load_call call, rlock_status status);
int64_t load_longest_ms(const load *load, load_call call);
/* Fails the test when a call answered something else than RLOCK_OK and what is listed (up to 0). */
void load_assert_answers(const load *load, const rlock_status *lock_also, const rlock_status *unlock_also);
/* Whether each counter stands at the number of its turns: none was lost. */
bool load_counters_exact(const load *load);

#endif
