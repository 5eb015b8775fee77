/* Time: milliseconds of CLOCK_BOOTTIME, which also counts while the machine is suspended, so
 * that a validity deadline never outlives the key on the server. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_CLOCK_H
#define RLI_CLOCK_H

#include <stdint.h>
#include <time.h>

#define RLI_NEVER INT64_MAX /* an instant that does not come */

int64_t rli_now_ms(void);

/* now + span, or RLI_NEVER instead of an overflow. */
int64_t rli_after_ms(int64_t span_ms);

/* The earlier of two instants; of two spans from one instant, the shorter. */
static inline int64_t rli_earlier(int64_t a_ms, int64_t b_ms)
{
    return a_ms < b_ms ? a_ms : b_ms;
}

/* The instant `deadline_ms` on CLOCK_MONOTONIC, for pthread_cond_timedwait. */
struct timespec rli_monotonic_at(int64_t deadline_ms);

/* Milliseconds until `deadline_ms`, 0 when it has passed, at most `limit_ms`. */
int rli_until_ms(int64_t deadline_ms, int limit_ms);

#endif
