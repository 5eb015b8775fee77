/* Rounds: how long locks that are taken one after the other are tried for before all are given back
 * and it starts over. Redisson's numbers, which keep those apart that want the same locks. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_ROUND_H
#define RLI_ROUND_H

#include <stddef.h>
#include <stdint.h>

/* The length of a round of a wait without end on n locks: n × 1500 ms for RLOCK_WATCHDOG; else, by
 * chance, half the lease to the lease, or n × 1500 ms to the lease when that is longer. From 1. */
int64_t rli_round_ms(size_t n, int64_t lease_ms);

/* How long the attempt (0, 1…) waits for one lock while it holds others: about 25 ms by chance, then
 * four times as long with each attempt, `most_ms` at last. A short one ends a deadlock soon; a long
 * one outlasts those who hold it in turn. From 1. */
int64_t rli_patience_ms(int attempt, int64_t most_ms);

#endif
