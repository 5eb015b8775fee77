/* A mixed load: threads of two C clients and of a JVM that take turns under a few locks for as long as
 * something happens to the servers, and note from when until when each held which. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MIXED_H
#define MIXED_H

#include <rlock/rlock.h>
#include <stdint.h>

typedef struct mixed mixed;

#define MIXED_NAMES 3 /* "load-0"… */

/* Starts MIXED_EACH threads of each of both clients and of Java's; from then on they lock and unlock. */
#define MIXED_EACH 4
mixed *mixed_start(rlock_client *client, rlock_client *other);

/* From the one to the other there may be two masters, or data that only one of them has: holds that were asked
 * for before mixed_split and such that were asked for after mixed_healthy may stand side by side, since no
 * client can know; those that were taken in between count as neither. */
void mixed_split(mixed *mixed);
void mixed_healthy(mixed *mixed);

/* Waits until every thread of both languages has had `turns` more turns; fails the test when one has not
 * after ms. */
void mixed_await_turns(mixed *mixed, int turns, int64_t ms);
/* The same for C's threads. */
void mixed_await_turns_of_c(mixed *mixed, int turns, int64_t ms);
/* Everybody goes on: each of C's threads has `turns` more beside all others. Then they end, and Java's have two more each
 * on average: a thread of a Redisson that lost its subscription asks only when a TTL ends, and may find the lock taken by
 * its siblings for long. */
void mixed_await_that_all_go_on(mixed *mixed, int turns, int64_t ms);
/* Ends the threads, shows what they did; fails the test when two held one name at once. */
void mixed_stop(mixed *mixed);
/* How many calls failed, on either side. */
int64_t mixed_failures(const mixed *mixed);

#endif
