/* Levels: the holds of one owner on a red lock or on a member of it. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "locks/levels.h"

int rli_levels_depth(const rli_levels *levels)
{
    return levels->count + __builtin_popcountll(levels->missed_bits);
}

void rli_levels_add(rli_levels *levels, bool renewed)
{
    levels->renewed_bits = levels->renewed_bits << 1 | renewed;
    levels->renewed += renewed;
    levels->count++;
}

/* As rli_session_remove_hold does it for a member. */
void rli_levels_remove(rli_levels *levels)
{
    bool renewed = levels->renewed_bits & 1;
    if (levels->count == 0)
        return;
    if (levels->count == levels->renewed)
        renewed = true;
    else if (levels->renewed == 0)
        renewed = false;
    levels->renewed_bits >>= 1;
    levels->renewed -= renewed;
    levels->count--;
}
