/* Composite: a lock made of other locks; what multi locks and red locks have in common. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "locks/composite.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/random.h"
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

static void settle(rli_composite *set)
{
    rlock **sorted = set->members + set->count;
    for (size_t i = 0; i < set->count; i++) {
        size_t at = i;
        for (; at > 0 && compare_places(set->members[i], sorted[at - 1]) < 0; at--)
            sorted[at] = sorted[at - 1];
        sorted[at] = set->members[i];
    }
}

/* --- handles --- */

static rli_composite *allocate(const rli_methods *methods, size_t n)
{
    rli_composite *set = calloc(1, sizeof *set + 2 * n * sizeof *set->members);
    if (!set)
        rli_fail(RLOCK_NO_MEMORY, "out of memory for a handle on %zu locks", n);
    else
        set->base.methods = methods;
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
    settle(set);
    return &set->base;
}

rlock *rli_composite_make(const rli_methods *methods, const char *what, rlock *const *locks, size_t n)
{
    if (!locks || n == 0) {
        rli_fail(RLOCK_INVALID, "a %s of no locks; give it at least one", what);
        return NULL;
    }
    if (n > RLI_MEMBERS_MAX) {
        rli_fail(RLOCK_INVALID, "a %s of %zu locks; %d are the most", what, n, RLI_MEMBERS_MAX);
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
    rli_composite *from = rli_composite_of(handle), *set = allocate(handle->methods, from->count);
    for (size_t i = 0; set && i < from->count; i++) {
        if (!add(set, from->members[i]->methods->copy(from->members[i])))
            return NULL;
    }
    return set ? finish(set) : NULL;
}

rlock *rli_composite_for_owner(rlock *handle, int64_t owner)
{
    rli_composite *from = rli_composite_of(handle), *set = allocate(handle->methods, from->count);
    for (size_t i = 0; set && i < from->count; i++) {
        if (!add(set, from->members[i]->methods->for_owner(from->members[i], owner)))
            return NULL;
    }
    return set ? finish(set) : NULL;
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

void rli_composite_free(rlock *handle)
{
    rli_composite *set = rli_composite_of(handle);
    for (size_t i = 0; i < set->count; i++)
        set->members[i]->methods->free(set->members[i]);
    free(set);
}

/* --- parts of acquiring --- */

rlock_status rli_composite_acquire_for(rlock *handle, const rlock_lock_options *options, int64_t answer_ms)
{
    rlock_lock_options owned = *options;
    owned.named_owner = false;
    rlock *view = rli_composite_for_owner(handle, options->owner);
    if (!view) {
        char why[512];
        snprintf(why, sizeof why, "%s", rlock_last_error());
        rlock_status status = handle->methods->check(handle);
        return status == RLOCK_OK ? rli_fail_text(RLOCK_NO_MEMORY, why) : status;
    }
    rlock_status status = view->methods->acquire(view, &owned, answer_ms, NULL);
    rli_composite_free(view);
    return status;
}

void rli_composite_extend_if_aged(rlock *member, int64_t lease_ms)
{
    int64_t left_ms = member->methods->valid_for(member);
    if (left_ms > 0 && left_ms < lease_ms - lease_ms / 10)
        member->methods->extend(member, lease_ms, rli_earlier(left_ms, RLI_COMPOSITE_ANSWER_MS));
}

rlock_status rli_composite_release(rlock *member, int64_t answer_ms)
{
    int64_t most_ms = member->methods->place(member).client->settings.timeout_ms;
    return member->methods->release(member, rli_earlier(answer_ms, most_ms));
}

static rlock_status begin(const rli_composite *set, rli_operation *op, rlock_cancel *cancel)
{
    rlock_status status = RLOCK_CLOSED;
    for (size_t i = 0; i < set->count && status != RLOCK_OK; i++) {
        rli_identity place = set->members[i]->methods->place(set->members[i]);
        status = rli_operation_begin(op, &place.client->gate, cancel);
    }
    return status;
}

static rlock_status pause(const rli_composite *set, rlock_cancel *cancel, int64_t until_ms)
{
    rli_operation op;
    rlock_status status = begin(set, &op, cancel);
    if (status != RLOCK_OK)
        return status;
    while ((status = rli_operation_check(&op)) == RLOCK_OK && rli_now_ms() < until_ms)
        rli_operation_sleep(&op, until_ms);
    rli_operation_end(&op);
    return status;
}

bool rli_composite_pause(const rli_composite *set, rlock_cancel *cancel, int64_t most_ms, int64_t deadline_ms,
                         rlock_status *status)
{
    rlock_status ended = pause(set, cancel, rli_earlier(rli_after_ms(rli_random_up_to(most_ms)), deadline_ms));
    if (ended != RLOCK_OK)
        *status = ended;
    return ended == RLOCK_OK && rli_now_ms() < deadline_ms;
}

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
