/* What a waiter costs the server while it waits. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BENCH_WAITING_H
#define BENCH_WAITING_H

#include "tests/bench/support/kinds.h"
#include "tests/bench/support/redis.h"
#include "tests/bench/support/report.h"

#include <stdbool.h>

/* One thread waits for what another holds: the requests that the server gets in a second of that.
 * False: a call failed, which has been said. */
bool waiting_measure(bench_redis *redis, bench_report *report, const bench_kind *kind);

#endif
