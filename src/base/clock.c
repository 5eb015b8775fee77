/* Time: milliseconds of CLOCK_BOOTTIME. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"

int64_t rli_now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_BOOTTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int64_t rli_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int64_t rli_after_ms(int64_t span_ms)
{
    int64_t now = rli_now_ms();
    return span_ms > RLI_NEVER - now ? RLI_NEVER : now + span_ms;
}

struct timespec rli_monotonic_at(int64_t deadline_ms)
{
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    int64_t span_ms = deadline_ms - rli_now_ms();
    if (span_ms < 0)
        span_ms = 0;
    /* Round up, so that the instant has come when the wait ends. */
    int64_t ns = at.tv_nsec + (span_ms % 1000 + 1) * 1000000;
    at.tv_sec += (time_t)(span_ms / 1000 + ns / 1000000000);
    at.tv_nsec = (long)(ns % 1000000000);
    return at;
}

int rli_until_ms(int64_t deadline_ms, int limit_ms)
{
    int64_t now = rli_now_ms();
    if (deadline_ms <= now)
        return 0;
    return deadline_ms - now > limit_ms ? limit_ms : (int)(deadline_ms - now);
}
