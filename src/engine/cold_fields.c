/* Cold fields: what a session must remember beyond one plain hold. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/cold_fields.h"

#include <stdlib.h>

#define SPARE 64

static rli_cold *take_spare(rli_colds *colds)
{
    rli_cold *cold = colds->spare;
    if (cold) {
        colds->spare = cold->next;
        colds->count--;
    }
    return cold;
}

bool rli_colds_ensure(rli_colds *colds, rli_cold **cold, int count, bool gives_back)
{
    if (*cold)
        return true;
    rli_cold *taken = colds->count > 1 || gives_back ? take_spare(colds) : NULL;
    if (!taken)
        taken = malloc(sizeof *taken);
    if (taken)
        *taken = (rli_cold){.highest = count, .renewed = count, .renewed_levels = (uint64_t)count};
    *cold = taken;
    return taken;
}

void rli_colds_give(rli_colds *colds, rli_cold *cold)
{
    if (!cold)
        return;
    free(cold->level_ends_ms);
    free(cold->unheard);
    if (colds->count >= SPARE) {
        free(cold);
        return;
    }
    cold->next = colds->spare;
    colds->spare = cold;
    colds->count++;
}

bool rli_cold_is_plain(const rli_cold *cold)
{
    return cold->attempts == 0 && cold->highest == 1 && cold->renewed == 1 && !cold->level_ends_ms && !cold->turns &&
           cold->replaces == 0 && cold->explicit_lease_ms == 0 && cold->token == 0 && cold->in_doubt_ms == 0 &&
           cold->in_doubt_more_ms == 0 && cold->missed_levels == 0 && cold->place_ms == 0 && !cold->taker &&
           cold->passes == 0 && !cold->unheard;
}

void rli_colds_free(rli_colds *colds)
{
    while (colds->spare) {
        rli_cold *cold = colds->spare;
        colds->spare = cold->next;
        free(cold);
    }
    colds->count = 0;
}
