/* Renewal, as the holder sees it. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TOPOLOGY_RENEWAL_H
#define TOPOLOGY_RENEWAL_H

#include <rlock/rlock.h>
#include <stdbool.h>
#include <stdint.h>

/* Whether this thread's hold, which is renewed for watchdog_ms, is so by a request that began at since_ms (now_ms()) or
 * later. */
bool is_renewed(rlock *lock, int64_t watchdog_ms, int64_t since_ms);

/* Waits until this thread's hold, which is renewed for watchdog_ms, is so. Fails the test when it
 * is lost instead. */
void await_renewal(rlock *lock, int64_t watchdog_ms, int64_t since_ms);

#endif
