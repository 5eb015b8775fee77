/* Round: how long locks that are taken one after the other are tried before the attempt starts over. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "locks/round.h"

#include "base/random.h"

#include <rlock/lock.h>

#define ROUND_MS    1500 /* per lock */
#define PATIENCE_MS 32

static int64_t at_least_1(int64_t ms)
{
    return ms > 1 ? ms : 1;
}

int64_t rli_round_ms(size_t n, int64_t lease_ms)
{
    int64_t usual_ms = (int64_t)n * ROUND_MS;
    if (lease_ms == RLOCK_WATCHDOG)
        return usual_ms;
    int64_t least_ms = lease_ms <= usual_ms ? lease_ms / 2 : usual_ms;
    return at_least_1(least_ms + rli_random_up_to(lease_ms - least_ms));
}

int64_t rli_patience_ms(int attempt, int64_t most_ms)
{
    int64_t ms = PATIENCE_MS;
    while (attempt-- > 0 && ms < most_ms)
        ms *= 4;
    if (ms > most_ms)
        return at_least_1(most_ms);
    return ms / 2 + rli_random_up_to(ms / 2);
}
