/* Allowance: so many within a time, and no more. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/allowance.h"

#include "base/clock.h"

bool rli_allowance_take(rli_allowance *allowance, int most, int64_t span_ms)
{
    int64_t now_ms = rli_now_ms();
    if (now_ms - allowance->since_ms >= span_ms)
        *allowance = (rli_allowance){.since_ms = now_ms};
    if (allowance->taken >= most)
        return false;
    allowance->taken++;
    return true;
}
