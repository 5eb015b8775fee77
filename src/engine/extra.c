/* Extra: what a session has to remember beyond one plain hold. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/extra.h"

#include <stdlib.h>

#define SPARE 64

static rli_extra *take_spare(rli_extras *extras)
{
    rli_extra *extra = extras->spare;
    if (extra) {
        extras->spare = extra->next;
        extras->count--;
    }
    return extra;
}

bool rli_extras_ensure(rli_extras *extras, rli_extra **extra, int count, bool gives_back)
{
    if (*extra)
        return true;
    rli_extra *taken = extras->count > 1 || gives_back ? take_spare(extras) : NULL;
    if (!taken)
        taken = malloc(sizeof *taken);
    if (taken)
        *taken = (rli_extra){.highest = count, .renewed = count, .renewed_levels = (uint64_t)count};
    *extra = taken;
    return taken;
}

void rli_extras_give(rli_extras *extras, rli_extra *extra)
{
    if (!extra)
        return;
    free(extra->level_ends_ms);
    free(extra->unheard);
    if (extras->count >= SPARE) {
        free(extra);
        return;
    }
    extra->next = extras->spare;
    extras->spare = extra;
    extras->count++;
}

bool rli_extra_is_plain(const rli_extra *extra)
{
    return extra->attempts == 0 && extra->highest == 1 && extra->renewed == 1 && !extra->level_ends_ms &&
           !extra->turns && extra->replaces == 0 && extra->explicit_lease_ms == 0 && extra->token == 0 &&
           extra->doubt_ms == 0 && extra->more_doubt_ms == 0 && extra->missed_levels == 0 && extra->place_ms == 0 && !extra->taker && extra->passes == 0 &&
           !extra->unheard;
}

void rli_extras_free(rli_extras *extras)
{
    while (extras->spare) {
        rli_extra *extra = extras->spare;
        extras->spare = extra->next;
        free(extra);
    }
    extras->count = 0;
}
