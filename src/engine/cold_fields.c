/* Cold fields: what a session must remember beyond one plain hold. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/cold_fields.h"

#include <stdlib.h>

#define SPARE 64

static rli_cold_fields *take_spare(rli_cold_fields_pool *cold_fields_pool)
{
    rli_cold_fields *cold = cold_fields_pool->spare;
    if (cold) {
        cold_fields_pool->spare = cold->next;
        cold_fields_pool->count--;
    }
    return cold;
}

bool rli_cold_fields_ensure(rli_cold_fields_pool *cold_fields_pool, rli_cold_fields **cold, int count, bool gives_back)
{
    if (*cold)
        return true;
    rli_cold_fields *taken = cold_fields_pool->count > 1 || gives_back ? take_spare(cold_fields_pool) : NULL;
    if (!taken)
        taken = malloc(sizeof *taken);
    if (taken)
        *taken = (rli_cold_fields){.highest = count, .renewed = count, .renewed_levels = (uint64_t)count};
    *cold = taken;
    return taken;
}

void rli_cold_fields_return(rli_cold_fields_pool *cold_fields_pool, rli_cold_fields *cold)
{
    if (!cold)
        return;
    free(cold->levels);
    free(cold->unheard);
    if (cold_fields_pool->count >= SPARE) {
        free(cold);
        return;
    }
    cold->next = cold_fields_pool->spare;
    cold_fields_pool->spare = cold;
    cold_fields_pool->count++;
}

bool rli_cold_fields_are_plain(const rli_cold_fields *cold)
{
    return cold->attempts == 0 && cold->highest == 1 && cold->renewed == 1 && !cold->levels && !cold->turns &&
           cold->replaces == 0 && cold->explicit_lease_ms == 0 && cold->token == 0 && cold->in_doubt_ms == 0 &&
           cold->in_doubt_more_ms == 0 && cold->missed_levels == 0 && cold->place_ms == 0 && !cold->taker &&
           cold->passes == 0 && !cold->unheard;
}

void rli_cold_fields_pool_free(rli_cold_fields_pool *cold_fields_pool)
{
    while (cold_fields_pool->spare) {
        rli_cold_fields *cold = cold_fields_pool->spare;
        cold_fields_pool->spare = cold->next;
        free(cold);
    }
    cold_fields_pool->count = 0;
}
