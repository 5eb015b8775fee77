/* Parts of a sharded lock. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/check/parts.h"

#include "tests/sim/check/wire_parts.h"
#include "tests/sim/program/servers.h"
#include "tests/sim/world/finding.h"

#include <inttypes.h>

static validity ask(const worker *self, rlock *lock)
{
    validity by = {.asked_ns = world_now_ns(), .rate_ppm = self->of->machine->rate_ppm};
    by.ms = rlock_valid_for(lock);
    return by;
}

/* Its part was not taken away since it was asked for; where calls of one owner met, nobody knows which of them took it. */
static bool is_untouched(const hold *whole, int part)
{
    bool since = whole->epoch == ledger_epoch(whole->resource);
    return since && (!whole->unsure || ledger_epoch(part) == 0);
}

static void claim(hold *whole, int resource, validity by)
{
    hold *part = ledger_hold(resource, EXCLUSIVE_SIDE, &whole->owner);
    part->whole = whole;
    if (whole->calls > 0 || by.asked_ns <= whole->dropped_ns || !is_untouched(whole, resource))
        return;
    part->epoch = ledger_epoch(resource);
    ledger_claim(part, by);
}

static const plan_object *object_of(const call *of)
{
    return &of->worker->of->plan->objects[of->step->object];
}

bool parts_is_one(int resource)
{
    bool is = false;
    for (int i = 0; i < run_of->object_count; i++) {
        const plan_object *one = &run_of->objects[i];
        for (int k = 0; one->kind == SHARDED && k < one->member_count; k++)
            is |= run_resource(run_of, one->members[k]) == resource;
    }
    return is;
}

unsigned parts_free(const call *of)
{
    unsigned bits = 0;
    for (int i = 0; i < object_of(of)->member_count; i++) {
        int part = object_of(of)->members[i];
        if (!wire_value(servers_host(part), run_of->objects[part].name))
            bits |= 1u << i;
    }
    return bits;
}

/* While a part is free, whoever asks gets one. */
static void judge_refusal(const call *of)
{
    for (int i = 0; i < object_of(of)->member_count; i++) {
        int resource = run_resource(run_of, object_of(of)->members[i]);
        bool free = of->free_parts & 1u << i && wire_taken_ns(resource) < of->began_ns;
        if (free)
            finding("%s was refused, and \"%s\" was free all the time", of->title, run_of->objects[resource].name);
    }
}

void parts_check(const call *of, rlock *const *parts)
{
    hold *whole = of->hold;
    const plan_object *object = object_of(of);
    int64_t began_ns = world_now_ns();
    int held = 0;
    bool alone = whole->calls == 0 && !whole->unsure;
    if (of->status == RLOCK_TIMEOUT && run_is_calm() && alone && whole->count == 0)
        judge_refusal(of);
    for (int i = 0; i < object->member_count; i++) {
        validity by = {0};
        if (parts[i])
            by = ask(of->worker, parts[i]);
        held += by.ms > 0;
        claim(whole, run_resource(run_of, object->members[i]), by);
    }
    if (held > 1 && alone && whole->calls == 0 && whole->granted_ns <= began_ns)
        finding("%s holds %d parts of sharded lock \"%s\" at a time", whole->owner.title, held, object->name);
}

static int64_t valid_ms(rlock *lock)
{
    return lock ? rlock_valid_for(lock) : 0;
}

void parts_ask(worker *self, rlock *lock, rlock *const *parts, hold *whole)
{
    int shard = -1;
    int64_t began_ns = world_now_ns(), before_ms = valid_ms(lock);
    rlock_status status = rlock_get_shard(lock, &shard);
    int64_t after_ms = valid_ms(lock);
    timeline(thread_title(self->thread), "get_shard → %s %d", rlock_strstatus(status), shard);
    bool met = whole->calls > 0 || whole->unsure || whole->granted_ns >= began_ns || whole->dropped_ns >= began_ns;
    if (status == RLOCK_OK && (shard < 0 || shard >= PLAN_MEMBERS))
        finding("%s holds part %d of a sharded lock", whole->owner.title, shard);
    if (status != RLOCK_OK && status != RLOCK_NOT_OWNER && status != RLOCK_CLOSED)
        finding("%s asked for its part: %s", whole->owner.title, rlock_strstatus(status));
    if (met || before_ms <= 0 || after_ms <= 0)
        return;
    if (status == RLOCK_NOT_OWNER)
        finding("%s has no part of a sharded lock, which is valid for %" PRId64 " ms", whole->owner.title, after_ms);
    if (status == RLOCK_OK && parts[shard] && valid_ms(parts[shard]) <= 0 && valid_ms(lock) > 0)
        finding("%s does not hold part %d, which it is said to hold", whole->owner.title, shard);
}
