/* The raw side: what a straightforward program does with hiredis, one connection a thread. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BENCH_RAW_H
#define BENCH_RAW_H

#include "tests/bench/support/redis.h"

#include <stdbool.h>

#define RAW_NAME "raw" /* of its connections in CLIENT LIST */

/* Loads the library's own scripts into the server, for all raw sides after it. */
void raw_load_scripts(bench_redis *redis);

/* The connection and the lock of thread `index`. */
void *raw_open(const bench_redis *redis, int index);
void raw_close(void *own);
/* One acquire and one release by EVALSHA: a crew_turn_fn. */
bool raw_pair(void *own);

#endif
