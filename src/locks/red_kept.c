/* Kept red locks: those that are held under the watchdog, found by their members and their owner. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "locks/red_kept.h"

#include "base/table.h"
#include "locks/single.h"

#include <pthread.h>
#include <string.h>

static bool handles_name_owner(const rli_composite *set)
{
    size_t i = 0;
    while (i < set->count && rli_single_of(set->members[i])->named_owner)
        i++;
    return i == set->count;
}

bool rli_red_name_owner(const rli_composite *set, const rli_job *job, rli_job *named)
{
    *named = (rli_job){.has_owner = job->has_owner, .owner = job->owner};
    if (job->has_owner || handles_name_owner(set))
        return true;
    named->has_owner = true;
    return rli_owner_thread(&named->owner) == RLOCK_OK;
}

/* Whether both are made of the same locks, held by the same owners. */
static bool is_for(const rli_red_kept *kept, const rli_composite *set, const rli_job *named)
{
    rlock *const *own = rli_composite_sorted(rli_composite_of(kept->lock)), *const *other = rli_composite_sorted(set);
    size_t count = rli_composite_of(kept->lock)->count;
    for (size_t i = 0; i < set->count && set->count == count; i++) {
        const rli_single *a = rli_single_of(own[i]), *b = rli_single_of(other[i]);
        rli_owner left, right;
        if (a->client != b->client || a->names.length != b->names.length ||
            memcmp(a->names.name, b->names.name, a->names.length) != 0 ||
            rli_single_owner(a, rli_job_owner(&kept->job), &left) != RLOCK_OK ||
            rli_single_owner(b, rli_job_owner(named), &right) != RLOCK_OK || left.named != right.named ||
            left.number != right.number)
            return false;
    }
    return set->count == count;
}

static rli_keepers *keepers_of(const rli_composite *set)
{
    return &rli_single_of(rli_composite_sorted(set)[0])->client->keepers;
}

static rli_red_kept **bucket_of(const rli_composite *set)
{
    const rli_single *first = rli_single_of(rli_composite_sorted(set)[0]);
    uint32_t hash = rli_hash(first->names.name, first->names.length, 0);
    return &first->client->keepers.buckets[hash % RLI_KEEPER_BUCKETS];
}

bool rli_red_any_kept(const rli_composite *set)
{
    return atomic_load(&keepers_of(set)->count) > 0;
}

void rli_red_lock_kept(const rli_composite *set)
{
    pthread_mutex_lock(&keepers_of(set)->mutex);
}

void rli_red_unlock_kept(const rli_composite *set)
{
    pthread_mutex_unlock(&keepers_of(set)->mutex);
}

rli_red_kept *rli_red_find_kept(const rli_composite *set, const rli_job *named)
{
    rli_red_kept *kept = *bucket_of(set);
    while (kept && !is_for(kept, set, named))
        kept = kept->next;
    return kept;
}

void rli_red_add_kept(rli_red_kept *kept)
{
    const rli_composite *set = rli_composite_of(kept->lock);
    kept->number = ++keepers_of(set)->numbers;
    kept->next = *bucket_of(set);
    *bucket_of(set) = kept;
    atomic_fetch_add(&keepers_of(set)->count, 1);
}

void rli_red_remove_kept(rli_red_kept *kept)
{
    const rli_composite *set = rli_composite_of(kept->lock);
    rli_red_kept **at = bucket_of(set);
    while (*at != kept)
        at = &(*at)->next;
    *at = kept->next;
    atomic_fetch_sub(&keepers_of(set)->count, 1);
}
