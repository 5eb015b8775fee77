/* Everywhere: what holds between C and Java on every stage of several servers. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/interop/support/everywhere.h"

#include "tests/integration/support/keys.h"
#include "tests/integration/support/objects.h"
#include "tests/integration/support/sides.h"
#include "tests/interop/support/claims.h"
#include "tests/interop/support/several.h"
#include "tests/interop/support/steps.h"
#include "tests/interop/support/times.h"
#include "tests/interop/support/waiter.h"
#include "tests/support/event.h"

#include <stdio.h>
#include <string.h>

#define WAIT_MS 20000

static const lock_kind plain = {.java = "lock", .get = rlock_get_lock};
static const lock_kind fair = {.java = "fair", .get = rlock_get_fair_lock};
static const lock_kind reading = {.java = "read", .get = get_read};
static const lock_kind writing = {.java = "write", .get = get_write};

/* --- locks --- */

static const struct {
    const lock_kind *first, *second;
} pairs[] = {{&plain, &plain}, {&fair, &fair}, {&writing, &writing}, {&writing, &reading}, {&reading, &writing}};
#define PAIRS (int)(sizeof pairs / sizeof *pairs)

void everywhere_locks(void)
{
    for (int i = 0; i < PAIRS; i++) {
        const char *name = several_name("order:", i);
        both_ways_with(claim_exclusion, pairs[i].first, pairs[i].second, name);
        both_ways_with(claim_wake, pairs[i].first, pairs[i].second, name);
    }
}

/* --- semaphores, permits, latches --- */

static void assert_woken(waiter *waiting, const char *what)
{
    int64_t since_ms = now_ms();
    cr_assert(waiter_served(waiting, BY_MESSAGE_MS), "%s: not served", what);
    fprintf(stderr, "%s: served %lld ms after\n", what, (long long)(now_ms() - since_ms));
}

static const char *asked(const answer *got)
{
    cr_assert(!got->threw, "Java threw %s: %s", got->text, got->message);
    return got->text;
}

static void wake_by_semaphore(void)
{
    const char *name = several_name("semaphore:", 0);
    rlock_semaphore *ours = semaphore_of(stage.client, name);
    bool done = false;
    assert_ok(rlock_semaphore_try_set_permits(ours, 1, &done));
    cr_assert_str_eq(asked(ASK(java, "t1", "semaphore", name, "drain")), "1");
    taking wanted = {.semaphore = ours, .permits = 1, .wait_ms = WAIT_MS};
    waiter *waiting = wait_in_c(take, &wanted);
    waiter_await_asleep(waiting);
    asked(ASK(java, "t1", "semaphore", name, "release", "1"));
    assert_woken(waiting, "C by Java's semaphore");
    waiting = WAIT_IN_JAVA("semaphore", name, "try", "1", "20000");
    waiter_await_asleep(waiting);
    assert_ok(rlock_semaphore_release(ours, 1));
    assert_woken(waiting, "Java by C's semaphore");
    cr_assert(available(ours) == 0);
}

static void wake_by_permits(void)
{
    const char *name = several_name("permits:", 1);
    rlock_permit_semaphore *ours = permits_of(stage.client, name);
    bool done = false;
    assert_ok(rlock_permit_semaphore_try_set_permits(ours, 1, &done));
    rlock_permit permit, other;
    leasing wanted = {.semaphore = ours, .count = 1, .wait_ms = WAIT_MS, .lease_ms = 30000, .permits = &permit};
    assert_ok(lease(&wanted));
    waiter *waiting = WAIT_IN_JAVA("permits", name, "try", "1", "20000", "30000");
    waiter_await_asleep(waiting);
    assert_ok(rlock_permit_semaphore_release(ours, permit.id));
    assert_woken(waiting, "Java by C's permit");
    snprintf(other.id, sizeof other.id, "%s", waiter_text(waiting));
    waiting = wait_in_c(lease, &wanted);
    waiter_await_asleep(waiting);
    asked(ASK(java, "t1", "permits", name, "releaseOne", other.id));
    assert_woken(waiting, "C by Java's permit");
    assert_ok(rlock_permit_semaphore_release(ours, permit.id));
}

static void wake_by_latch(void)
{
    const char *name = several_name("latch:", 2);
    rlock_count_down_latch *ours = latch_of(stage.client, name);
    bool done = false;
    assert_ok(rlock_count_down_latch_try_set_count(ours, 1, &done));
    waiter *waiting = WAIT_IN_JAVA("latch", name, "await");
    waiter_await_asleep(waiting);
    assert_ok(rlock_count_down_latch_count_down(ours));
    assert_woken(waiting, "Java by C's latch");
    cr_assert_str_eq(asked(ASK(java, "t1", "latch", name, "trySet", "1")), "true");
    awaiting wanted = {.latch = ours, .wait_ms = WAIT_MS};
    waiting = wait_in_c(await_open, &wanted);
    waiter_await_asleep(waiting);
    asked(ASK(java, "t1", "latch", name, "countDown"));
    assert_woken(waiting, "C by Java's latch");
}

void everywhere_objects(void)
{
    wake_by_semaphore();
    wake_by_permits();
    wake_by_latch();
}

/* --- keys --- */

static party *waiters[2];

static void step_wait(bool in_java)
{
    party_begin_lock(waiters[in_java]);
    party_await_waiting(waiters[in_java]);
}

static void step_hand_over(bool in_java)
{
    assert_ok(party_unlock(cast[in_java]));
    assert_ok(party_finish(waiters[in_java], BY_MESSAGE_MS));
    for (int64_t end_ms = limit_end_ms(5000); channels_listened(); pass_ms(1))
        cr_assert(now_ms() < end_ms, "a channel is still listened to");
}

static void step_leave(bool in_java)
{
    assert_ok(party_unlock(waiters[in_java]));
}

static void assert_same(const char *section, const lock_kind *kind, const char *name, parity_difference known)
{
    static const parity_step noted[] = {{NULL, step_lock, SAME_TTL},
                                        {"waiting", step_wait, SAME_TTL},
                                        {"handed over", step_hand_over, SAME_TTL},
                                        {"done", step_leave, SAME_TTL}};
    static const parity_step bare[] = {{NULL, step_lock, SAME_TTL},
                                       {NULL, step_wait, SAME_TTL},
                                       {NULL, step_hand_over, SAME_TTL},
                                       {NULL, step_leave, SAME_TTL}};
    several_look(name);
    cast_parties(kind, name);
    for (int i = 0; i < 2; i++)
        waiters[i] = party_of(i ? NULL : stage.other, kind, name);
    if (section)
        ASSERT_PARITY(section, noted, &known);
    else
        ASSERT_PARITY(NULL, bare, &known);
}

void everywhere_keys(void)
{
    parity_difference known = {.sharded = several.cluster != NULL};
    assert_same("rlock waiter", &plain, "order:42", known);
    assert_same(NULL, &fair, several_name("fair:", 0), known);
    assert_same(NULL, &writing, several_name("sides:", 1), known);
}
