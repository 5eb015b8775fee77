/* Order: a fair lock is had by those who came first. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/check/order.h"

#include "tests/sim/world/finding.h"

#include <inttypes.h>
#include <string.h>

static bool forgone[PLAN_OBJECTS];

void order_forgo(int resource)
{
    forgone[resource] = true;
}

/* Within that time of its begin a call has its place, where nothing goes wrong: with a connection to be made, and a script
 * to be loaded. */
static int64_t place_ns(const plan *of)
{
    return (40 * (of->latency_us + of->jitter_us) + 20000) * 1000;
}

/* Whether one that does not answer for a while may be passed over. One whose client has yet to find its servers asks later. */
static bool is_strict(const call *of)
{
    const plan *by = of->worker->of->plan;
    object_kind kind = by->objects[of->step->object].kind;
    bool may_pass = false;
    for (int i = 0; i < by->client_count; i++)
        may_pass |= strstr(by->clients[i].options, "fairLockWaitTimeout") || run_process(i)->closed ||
                    strstr(by->clients[i].options, "lazyInitialization");
    return run_is_calm() && !forgone[of->hold->resource] && (kind == FAIR || kind == NON_REENTRANT_FAIR) && run_is_fair(of->hold->resource) && !may_pass;
}

/* Another thread of its owner may have had the place for long. */
static bool shares_place(const call *self)
{
    return self->hold->unsure || self->hold->calls > 0;
}

/* Another thread of its owner has had the lock since, for which both had one place; or has given back what this one was
 * granted and has not heard of. */
static bool has_had_its_turn(const worker *one)
{
    return one->waits_named && (!one->waits_with || one->waits_with->gains != one->waits_gains ||
                                one->waits_with->dropped_ns > one->waits_since_ns);
}

void order_check(const call *self)
{
    if (!is_strict(self) || shares_place(self))
        return;
    for (int i = 0; i < run_worker_count(); i++) {
        const worker *one = run_worker(i);
        if (one == self->worker || one->waits_for != self->hold->resource || has_had_its_turn(one) ||
            one->waits_until_ns <= world_now_ns() ||
            one->waits_since_ns + place_ns(self->worker->of->plan) > self->began_ns ||
            one->waits_since_ns <= ledger_void_ns(self->hold->resource)) /* an operator has cleared the queue since */
            continue;
        finding("%s: %s, which had waited for %" PRId64 " ms by then, waits on", self->title, thread_title(one->thread),
                (self->began_ns - one->waits_since_ns) / 1000000);
    }
}
