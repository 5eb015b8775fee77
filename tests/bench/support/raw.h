/* The raw side: a straightforward program that sends with hiredis, over one connection a thread, word for
 * word what the library sends. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BENCH_RAW_H
#define BENCH_RAW_H

#include "tests/bench/support/kinds.h"
#include "tests/bench/support/redis.h"

#include <stdbool.h>

#define RAW_NAME "raw" /* of its connections in CLIENT LIST */

/* The connection of thread `index` and its object, of which the library's `client` takes a turn first:
 * the scripts and all arguments come from there. Nobody else may be talking to the server. */
void *raw_open(bench_redis *redis, rlock_client *client, const bench_kind *kind, int index);
void raw_close(void *own);
/* One turn: a crew_turn_fn. */
bool raw_turn(void *own);

#endif
