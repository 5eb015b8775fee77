/* Round: how long locks that are taken one after the other are tried before all are released and the attempt
 * starts over. The numbers are Redisson's; they separate owners that want the same locks. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_ROUND_H
#define RLI_ROUND_H

#include <stddef.h>
#include <stdint.h>

/* The length of a round for `n` locks when the wait has no limit, in ms, at least 1. RLOCK_WATCHDOG: n × 1500
 * ms. Otherwise random: from half the lease to the lease; if the lease is longer than n × 1500 ms, from that
 * to the lease. */
int64_t rli_round_ms(size_t n, int64_t lease_ms);

/* How long attempt 0, 1, … waits for one lock while it holds others, in ms, at least 1: a random time, first
 * about 25 ms, then four times as long with each attempt, up to most_ms. A short time ends a deadlock soon; a
 * long time outlasts owners that hold the lock in turn. */
int64_t rli_patience_ms(int attempt, int64_t most_ms);

#endif
