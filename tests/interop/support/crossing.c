/* Crossing: holds and waits of C and of Java that are under way when another server becomes the master. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/interop/support/crossing.h"

#include "tests/interop/support/party.h"
#include "tests/interop/support/several.h"
#include "tests/support/event.h"

#include <stdio.h>

#define WAITERS 2
#define LOCKS 2

static const lock_kind plain = {.java = "lock", .get = rlock_get_lock};

static struct side {
    party *holder, *waiters[WAITERS];
} sides[LOCKS];

static bool is_java(int number)
{
    return number == 1;
}

static void begin(struct side *self, bool held_by_java, const char *name)
{
    self->holder = party_of(held_by_java ? NULL : stage.client, &plain, name);
    assert_ok(party_lock(self->holder));
    for (int i = 0; i < WAITERS; i++) {
        self->waiters[i] = party_of(is_java(i) ? NULL : stage.other, &plain, name);
        party_begin_lock(self->waiters[i]);
        party_await_waiting(self->waiters[i]);
    }
}

void crossing_begin(const char *beside)
{
    static char names[LOCKS][80];
    several_look(beside);
    for (int i = 0; i < LOCKS; i++) {
        snprintf(names[i], sizeof names[i], "held-%d:{%s}", i, beside);
        begin(&sides[i], is_java(i), names[i]);
    }
}

static const char *who(const party *one)
{
    return party_is_java(one) ? "Java" : "C";
}

static void serve(struct side *self)
{
    int64_t since_ms = now_ms();
    assert_ok(party_unlock(self->holder));
    for (int left = WAITERS; left;) {
        for (int i = 0; i < WAITERS; i++) {
            party *waiter = self->waiters[i];
            if (!waiter || !party_ended(waiter, 1))
                continue;
            assert_ok(party_finish(waiter, 0));
            fprintf(stderr, "held by %s: %s is served %lld ms after\n", who(self->holder), who(waiter),
                    (long long)(party_ended_at(waiter) - since_ms));
            assert_ok(party_unlock(waiter));
            self->waiters[i] = NULL;
            left--;
        }
    }
}

static void assert_waits(party *waiter, const struct side *side)
{
    if (!party_ended(waiter, 0))
        return;
    rlock_status status = party_finish(waiter, 0);
    cr_assert_fail("%s, waiting for what %s holds, answered \"%s\"", who(waiter), who(side->holder),
                   rlock_strstatus(status));
}

void crossing_end(void)
{
    java_is_at(NULL); /* unlock latches of calls that a takeover interrupted stay for a while */
    for (int i = 0; i < LOCKS; i++) {
        struct side *side = &sides[i];
        cr_assert(party_holds(side->holder), "%s has lost what it held", who(side->holder));
        for (int w = 0; w < WAITERS; w++)
            assert_waits(side->waiters[w], side);
    }
    for (int i = 0; i < LOCKS; i++)
        serve(&sides[i]);
}
