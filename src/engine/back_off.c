/* Back-off: how long a waiter that polls sleeps between two requests. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/back_off.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/random.h"
#include "base/sized.h"

#define MOST_MS    INT64_C(86400000)
#define MOST_TIMES 1000

static rlock_status check(const rlock_back_off *back_off)
{
    const struct {
        const char *name;
        int64_t value, least, most;
    } values[] = {
        {"initial_ms", back_off->initial_ms, 1, MOST_MS},
        {"max_ms", back_off->max_ms, 1, MOST_MS},
        {"multiplier", back_off->multiplier, 1, MOST_TIMES},
        {"jitter_percent", back_off->jitter_percent, 0, 100},
    };
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        if (values[i].value < values[i].least || values[i].value > values[i].most)
            return rli_fail(RLOCK_INVALID, "the back-off's %s is %lld; it must be from %lld to %lld", values[i].name,
                            (long long)values[i].value, (long long)values[i].least, (long long)values[i].most);
    }
    return RLOCK_OK;
}

rlock_status rli_back_off_read(rlock_back_off *full, const rlock_back_off *given)
{
    static const rli_sized sized = RLI_SIZED(rlock_back_off, multiplier, "back_off",
                                             "RLOCK_BACK_OFF_INIT or "
                                             "RLOCK_BACK_OFF_CONSTANT_INIT");
    rlock_status status = rli_sized_read(full, given, &sized);
    return status == RLOCK_OK ? check(full) : status;
}

int64_t rli_back_off_ms(const rlock_back_off *back_off, int denied)
{
    int64_t delay_ms = back_off->initial_ms;
    for (int i = 0; i < denied && delay_ms < back_off->max_ms && back_off->multiplier > 1; i++)
        delay_ms *= back_off->multiplier;
    if (back_off->multiplier > 1 && back_off->jitter_percent == 0)
        delay_ms += rli_random_up_to(denied);
    delay_ms = rli_earlier(delay_ms, back_off->max_ms);
    if (back_off->jitter_percent > 0)
        delay_ms -= rli_random_up_to(delay_ms * back_off->jitter_percent / 100);
    return delay_ms > 0 ? delay_ms : 1;
}
