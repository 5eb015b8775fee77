/* Time: milliseconds of CLOCK_BOOTTIME.
 *
 * This clock also counts while the machine is suspended, so a validity deadline never outlives the key on the
 * server. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_CLOCK_H
#define RLI_CLOCK_H

#include <stdint.h>
#include <time.h>

#define RLI_NEVER INT64_MAX /* an instant that never comes */

/* The current instant. Any thread. */
int64_t rli_now_ms(void);

/* Nanoseconds of CLOCK_MONOTONIC, to measure short spans. Any thread. */
int64_t rli_now_ns(void);

/* The instant `span_ms` from now; RLI_NEVER where the sum would overflow. */
int64_t rli_after_ms(int64_t span_ms);

/* The earlier of two instants, or the shorter of two spans. */
static inline int64_t rli_earlier(int64_t a_ms, int64_t b_ms)
{
    return a_ms < b_ms ? a_ms : b_ms;
}

/* Converts the instant `deadline_ms` to CLOCK_MONOTONIC, for pthread_cond_timedwait and futexes. An instant that has
 * passed becomes the present one. */
struct timespec rli_monotonic_at(int64_t deadline_ms);

/* Milliseconds until `deadline_ms`: 0 if it has passed, at most `limit_ms`. */
int rli_until_ms(int64_t deadline_ms, int limit_ms);

#endif
