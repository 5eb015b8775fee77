/* Rivals: the fair lock of the library and that of the real Redisson, in turn on one server. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BENCH_RIVALS_H
#define BENCH_RIVALS_H

#include "tests/bench/support/redis.h"
#include "tests/bench/support/report.h"

#include <stdbool.h>

/* `threads` threads of one process take turns under one fair lock, in as many slices of about `ms` on
 * each side; `agent` is the launcher of the JVM. False: a turn failed or was lost; it has been said. */
bool rivals_measure(bench_redis *redis, bench_report *report, const char *agent, int threads, int slices, int ms);

#endif
