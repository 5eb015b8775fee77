/* Our side: turns through the public interface, one client for all threads. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BENCH_OURS_H
#define BENCH_OURS_H

#include "tests/bench/support/kinds.h"
#include "tests/bench/support/redis.h"

#include <stdbool.h>
#include <stdint.h>

#define OURS_NAME "ours" /* of its connections in CLIENT LIST */

/* What stands under one lock; written by its holder alone. */
typedef struct bench_ward {
    uint64_t turns, hand_overs;
    const void *last; /* who held it before */
    bool inside;      /* somebody does now */
} bench_ward;

rlock_client *ours_client(const bench_redis *redis);
/* A thread's handle on the object `name`; those of the same name share a ward. */
void *ours_open(rlock_client *client, const bench_kind *kind, const char *name, bench_ward *ward);
void ours_close(void *own);
/* Takes it and gives it back: a crew_turn_fn. Fails also when a second holder was inside. */
bool ours_turn(void *own);

#endif
