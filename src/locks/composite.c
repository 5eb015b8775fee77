/* Composite: a lock made of other locks; what multi locks and red locks have in common. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "locks/composite.h"

#include "base/error.h"
#include "client/client.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- places --- */

static int compare_names(const rli_identity *a, const rli_identity *b)
{
    int order = memcmp(a->name, b->name, a->length < b->length ? a->length : b->length);
    return order ? order : (a->length > b->length) - (a->length < b->length);
}

/* Orders locks by server, database and name. Clients do not count: another process has other clients for the
 * same servers. */
static int compare_places(const rlock *a, const rlock *b)
{
    rli_identity left = a->methods->place(a), right = b->methods->place(b);
    const rli_settings *here = &left.client->settings, *there = &right.client->settings;
    int order = strcmp(here->addresses[0].text, there->addresses[0].text);
    if (order == 0)
        order = (here->database > there->database) - (here->database < there->database);
    return order ? order : compare_names(&left, &right);
}

bool rli_composite_same_identity(const rlock *a, const rlock *b)
{
    return compare_places(a, b) == 0;
}

rlock *const *rli_composite_sorted(const rli_composite *set)
{
    return set->members + set->count;
}

static int compare(const void *a, const void *b)
{
    return compare_places(*(rlock *const *)a, *(rlock *const *)b);
}

/* Sorts the members, and notes what they have in common. */
static void examine(rli_composite *set)
{
    rlock **sorted = set->members + set->count;
    memcpy(sorted, set->members, set->count * sizeof *sorted);
    qsort(sorted, set->count, sizeof *sorted, compare);
    set->singles = set->one_client = true;
    for (size_t i = 0; i < set->count; i++) {
        rli_identity place = set->members[i]->methods->place(set->members[i]);
        set->singles = set->singles && !place.several;
        set->one_client = set->one_client && place.client == rli_composite_client_of(set->members[0]);
    }
}

/* --- handles --- */

static rli_composite *allocate(const rli_methods *methods, size_t n)
{
    rli_composite *set = calloc(1, sizeof *set + 2 * n * sizeof *set->members);
    if (!set) {
        rli_fail(RLOCK_NO_MEMORY, "out of memory for a handle on %zu locks", n);
        return NULL;
    }
    set->base.methods = methods;
    atomic_init(&set->references, 1);
    return set;
}

static rli_composite *allocate_like(const rli_composite *from)
{
    rli_composite *set = allocate(from->base.methods, from->count);
    if (set)
        set->least_valid_percent = from->least_valid_percent;
    return set;
}

/* Adds a member's new handle. If it is NULL, frees the whole set and returns false. */
static bool add(rli_composite *set, rlock *member)
{
    if (member)
        set->members[set->count++] = member;
    else
        rli_composite_free(&set->base);
    return member != NULL;
}

/* The sorted order is stored behind the members, and `count` grows with each member: so this comes last. */
static rlock *finish(rli_composite *set)
{
    examine(set);
    return &set->base;
}

rlock *rli_composite_make(const rli_methods *methods, const char *what, rlock *const *locks, size_t n, size_t most)
{
    if (!locks && n > 0) {
        rli_fail(RLOCK_INVALID, "the array of the %zu locks of a %s is NULL", n, what);
        return NULL;
    }
    if (n == 0) {
        rli_fail(RLOCK_INVALID, "a %s needs at least one lock", what);
        return NULL;
    }
    if (n > most) {
        rli_fail(RLOCK_INVALID, "a %s of %zu locks; the limit is %zu", what, n, most);
        return NULL;
    }
    for (size_t i = 0; i < n; i++) {
        if (!locks[i]) {
            rli_fail(RLOCK_INVALID, "locks[%zu] of the %zu of a %s is NULL; did rlock_get_lock fail?", i, n, what);
            return NULL;
        }
    }
    rli_composite *set = allocate(methods, n);
    if (!set)
        return NULL;
    for (size_t i = 0; i < n; i++) {
        if (!add(set, locks[i]->methods->copy(locks[i])))
            return NULL;
    }
    return finish(set);
}

rlock *rli_composite_copy(rlock *handle)
{
    rli_composite *from = rli_composite_of(handle), *set = allocate_like(from);
    for (size_t i = 0; set && i < from->count; i++) {
        if (!add(set, from->members[i]->methods->copy(from->members[i])))
            return NULL;
    }
    return set ? finish(set) : NULL;
}

rlock *rli_composite_for_owner(rlock *handle, int64_t owner)
{
    rli_composite *from = rli_composite_of(handle), *set = allocate_like(from);
    for (size_t i = 0; set && i < from->count; i++) {
        if (!add(set, from->members[i]->methods->for_owner(from->members[i], owner)))
            return NULL;
    }
    return set ? finish(set) : NULL;
}

rlock_status rli_composite_set_call_options(rlock *handle, const rlock_call_options *options, bool sets)
{
    rli_composite *set = rli_composite_of(handle);
    rlock_status status = RLOCK_OK;
    for (size_t i = 0; i < set->count && status == RLOCK_OK; i++)
        status = set->members[i]->methods->set_call_options(set->members[i], options, sets);
    return status;
}

rli_identity rli_composite_identity(const rlock *handle)
{
    const rlock *first = rli_composite_of(handle)->members[0];
    rli_identity place = first->methods->place(first);
    place.several = true;
    return place;
}

const char *rli_composite_name(const rlock *handle)
{
    (void)handle;
    return NULL;
}

rlock_status rli_composite_check_owner(const rlock *handle)
{
    const rli_composite *set = rli_composite_of(handle);
    rlock_status status = RLOCK_OK;
    for (size_t i = 0; i < set->count && status == RLOCK_OK; i++)
        status = set->members[i]->methods->check_owner(set->members[i]);
    return status;
}

rlock_client *rli_composite_home(const rlock *handle)
{
    const rli_composite *set = rli_composite_of(handle);
    for (size_t i = 0; i < set->count; i++) {
        rlock_client *client = set->members[i]->methods->home(set->members[i]);
        if (rli_gate_check(&client->gate) == RLOCK_OK)
            return client;
    }
    return set->members[0]->methods->home(set->members[0]);
}

void rli_composite_ref(rlock *handle)
{
    atomic_fetch_add(&rli_composite_of(handle)->references, 1);
}

void rli_composite_free(rlock *handle)
{
    rli_composite *set = rli_composite_of(handle);
    if (atomic_fetch_sub(&set->references, 1) > 1)
        return;
    for (size_t i = 0; i < set->count; i++)
        set->members[i]->methods->free(set->members[i]);
    free(set);
}

/* --- messages --- */

const char *rli_composite_format_member(const rlock *member, char shown[RLI_MEMBER_SHOWN])
{
    char name[RLI_NAME_SHOWN];
    const char *text = member->methods->name(member);
    if (text)
        snprintf(shown, RLI_MEMBER_SHOWN, "\"%s\"", rli_show_name(text, name));
    else
        snprintf(shown, RLI_MEMBER_SHOWN, "itself made of several");
    return shown;
}
