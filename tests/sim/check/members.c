/* Members of locks of several: that such a lock says of itself what its members say, and that they end with it. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/check/members.h"

#include "tests/sim/check/parts.h"
#include "tests/sim/world/finding.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* By how much a red lock's time is shorter than that of its members. */
#define DRIFT_MS 2
/* Clocks count whole ms, and one may end between two questions. */
#define ROUNDED_MS 2

static const plan_object *object_of(const call *of)
{
    return &run_of->objects[of->step->object];
}

/* --- others of the same owner --- */

static bool is_of_one_owner(const hold *a, const hold *b)
{
    return a->owner.client == b->owner.client && a->owner.number == b->owner.number;
}

/* Whether one is a member of the other, or both have a member in common. */
static bool overlap(const hold *a, const hold *b)
{
    const plan_object *one = &run_of->objects[a->resource];
    if (run_is_of(b->resource, one->name, strlen(one->name)))
        return true;
    bool any = false;
    for (int i = 0; i < one->member_count && one->kind != SHARDED; i++) {
        const char *name = run_of->objects[one->members[i]].name;
        any |= run_is_of(b->resource, name, strlen(name));
    }
    return any;
}

static bool is_in_use(const hold *held)
{
    return held->count + held->to_tell > 0 || held->calls > 0;
}

static bool is_of_several(const hold *held)
{
    return object_is_composite(run_of->objects[held->resource].kind);
}

/* The next of the holds from `from` on by which the owner has a part of this one, too; NULL: there is none. */
static hold *other_from(hold *from, const hold *held)
{
    for (hold *other = from; other; other = other->next) {
        bool counts = other != held && is_of_one_owner(other, held) && is_in_use(other);
        if (counts && (is_of_several(held) || is_of_several(other)) && overlap(held, other))
            return other;
    }
    return NULL;
}

static hold *other_of(const hold *held)
{
    return other_from(ledger_first(), held);
}

bool members_note_others(hold *held)
{
    bool any = false;
    for (hold *other = other_of(held); other; other = other_from(other->next, held)) {
        other->unsure = held->unsure = other->mixed = held->mixed = true;
        any = true;
    }
    return any;
}

bool members_has_others(const hold *held)
{
    return other_of(held);
}

static bool is_called(const hold *of)
{
    return of->calls > 0;
}

static bool is_given_back(const hold *of)
{
    return of->unlocks > 0;
}

static bool any_other(const hold *held, bool (*is)(const hold *))
{
    bool any = false;
    for (const hold *other = other_of(held); other && !any; other = other_from(other->next, held))
        any = is(other);
    return any;
}

bool members_are_called(const hold *held)
{
    return any_other(held, is_called);
}

bool members_are_given_back(const hold *held)
{
    return any_other(held, is_given_back) || (held->whole && is_given_back(held->whole));
}

/* --- how long it is valid --- */

static int ascending(const void *left, const void *right)
{
    int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return (a > b) - (a < b);
}

/* For how long a lock of these members is valid, as the header says: a multi lock while all are, a red lock while more
 * than half are. */
static int64_t made_of(const plan_object *of, int64_t *members_ms)
{
    qsort(members_ms, (size_t)of->member_count, sizeof *members_ms, ascending);
    int needed = of->kind == RED ? of->member_count / 2 + 1 : of->member_count;
    int64_t ms = members_ms[of->member_count - needed] - (of->kind == RED ? DRIFT_MS : 0);
    return ms > 0 ? ms : 0;
}

static void ask_all(const plan_object *of, rlock *const *members, int64_t *ms)
{
    for (int i = 0; i < of->member_count; i++)
        ms[i] = members[i] ? rlock_valid_for(members[i]) : 0;
}

static bool have_handles(const plan_object *of, rlock *const *members)
{
    int count = 0;
    while (count < of->member_count && members[count])
        count++;
    return count == of->member_count;
}

static bool stood_still(const plan_object *of, const int64_t *before_ms, const int64_t *after_ms)
{
    bool still = true;
    for (int i = 0; i < of->member_count; i++)
        still &= llabs(before_ms[i] - after_ms[i]) <= ROUNDED_MS;
    return still;
}

/* Nothing is said where a member changed between the questions: it may have been renewed first, and then lost. Nor where
 * other threads of the owner call: one that is not held may have been taken and given back. */
void members_ask(const hold *held, int object, rlock *lock, rlock *const *members)
{
    const plan_object *of = &run_of->objects[object];
    int64_t before_ms[PLAN_MEMBERS], after_ms[PLAN_MEMBERS];
    if (!object_is_composite(of->kind) || !have_handles(of, members) || held->calls > 0 || members_are_called(held))
        return;
    ask_all(of, members, before_ms);
    int64_t ms = rlock_valid_for(lock);
    ask_all(of, members, after_ms);
    if (!stood_still(of, before_ms, after_ms) || held->calls > 0 || members_are_called(held))
        return;
    int64_t most = made_of(of, before_ms), least = made_of(of, after_ms);
    if (ms > most + ROUNDED_MS)
        finding("%s may rely on a %s lock for %" PRId64 " ms, of which its members make %" PRId64, held->owner.title,
                object_word(of->kind), ms, most);
    if (ms < least - ROUNDED_MS)
        finding("%s may rely on a %s lock for %" PRId64 " ms, though its members make that %" PRId64, held->owner.title,
                object_word(of->kind), ms, least);
}

/* --- what an unlock says --- */

void members_before(call *self, rlock *const *members)
{
    for (hold *other = other_of(self->hold); other; other = other_from(other->next, self->hold))
        ledger_drop(other); /* it may lose members by that */
    if (object_is_composite(object_of(self)->kind))
        ask_all(object_of(self), members, self->members_before_ms);
}

/* Whether the member was valid before the call, for longer than that took; the client's clock may be 1 % faster. */
static bool was_valid(const call *of, int member)
{
    int64_t passed_ms = (of->ended_ns - of->began_ns) / 1000000;
    return of->members_before_ms[member] > passed_ms + passed_ms / 100 + ROUNDED_MS;
}

/* "Not the owner" means that nothing has changed: where members were given back, the lock was held, and is lost. No
 * other call of this owner's, on this lock or another of its members, is under way. */
static void judge_denied(const call *of, rlock *const *members)
{
    int given_back = 0;
    bool stands = of->epoch == ledger_epoch(of->hold->resource) && !ledger_is_new_to(of->began_ns);
    for (int i = 0; i < object_of(of)->member_count && stands; i++)
        given_back += was_valid(of, i) && members[i] && rlock_valid_for(members[i]) == 0;
    if (given_back > 0)
        finding("%s answered that this owner does not hold it, and gave %d of its members back", of->title, given_back);
}

/* --- what stays --- */

/* When a lock of several is not held, neither are those that it is made of, but by their names. */
static void check_left(const call *of, rlock *const *members)
{
    hold *held = of->hold;
    const plan_object *object = object_of(of);
    int64_t asked_ns = world_now_ns();
    bool any = false;
    for (int i = 0; i < object->member_count; i++) {
        int64_t ms = members[i] ? rlock_valid_for(members[i]) : 0;
        bool again = held->calls > 0 || held->granted_ns >= asked_ns; /* another thread of a named owner */
        any |= ms > 0;
        if (ms > 0 && !again && !held->partly && !other_of(held))
            finding("%s holds \"%s\" for %" PRId64 " ms more, a member of a lock that it does not hold",
                    held->owner.title, rlock_name(members[i]), ms);
    }
    held->partly &= any; /* until all are given back */
}

void members_check(const call *of, rlock *lock, rlock *const *members)
{
    hold *held = of->hold;
    const plan_object *object = object_of(of);
    if (object->kind == SHARDED)
        parts_check(of, members);
    members_ask(held, of->step->object, lock, members);
    /* Another thread's acquire for the same owner, whose members this call gave back in part. */
    held->partly |= of->gives_back && (held->gains != of->gains || held->calls > 0);
    bool alone = of->alone && held->begun == of->begun && !other_of(held);
    if (alone && of->gives_back && !of->not_begun && object->kind == RED && of->status == RLOCK_NOT_OWNER)
        judge_denied(of, members);
    if (held->count > 0 || held->to_tell > 0 || held->calls > 0)
        return;
    check_left(of, members);
}
