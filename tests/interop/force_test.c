/* Force: a lock that the one side forces open is lost to its holder on the other side. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/actor.h"
#include "tests/integration/support/keys.h"
#include "tests/integration/support/traffic.h"
#include "tests/interop/support/java.h"
#include "tests/interop/support/times.h"
#include "tests/support/event.h"

#include <string.h>

#define NAME "order:42"
#define SOON_MS 50

TestSuite(force, .init = java_stage, .fini = java_stage_close);

static struct {
    event told;
    rlock_lost_reason reason;
    int hold_count;
    char name[64];
} loss;

static void note_loss(const rlock_lost_event *lost, void *arg)
{
    (void)arg;
    loss.reason = lost->reason;
    loss.hold_count = lost->hold_count;
    strncpy(loss.name, lost->name, sizeof loss.name - 1);
    event_set(&loss.told);
}

#define WATCHDOG_MS 3000

/* C hears of it at its next renewal, a third of the watchdog timeout later, once for both holds. */
Test(force, by_java_is_heard_by_the_holder_in_c)
{
    rlock_client *client = stage_client("lockWatchdogTimeout=3000"); /* WATCHDOG_MS */
    rlock *lock = lock_of(client, NAME);
    event_init(&loss.told);
    rlock_on_lost(client, note_loss, NULL);
    assert_ok(rlock_lock(lock));
    assert_ok(rlock_lock(lock));
    cr_assert(java_force("t1", NAME));
    assert_no_keys();
    int64_t forced_ns = now_ns();
    cr_assert(event_wait_ms(&loss.told, WATCHDOG_MS + BY_MESSAGE_MS), "not told of the loss");
    assert_between((now_ns() - forced_ns) / 1000000, 0, WATCHDOG_MS / 3 + at_most_ms(100));
    cr_assert(loss.reason == RLOCK_LOST_GONE && loss.hold_count == 2);
    cr_assert_str_eq(loss.name, NAME);
    cr_assert(rlock_valid_for(lock) == 0);
    assert_status(rlock_unlock(lock), RLOCK_LOST);
    assert_status(rlock_unlock(lock), RLOCK_LOST);
    assert_status(rlock_unlock(lock), RLOCK_NOT_OWNER);
    cr_assert(event_count(&loss.told) == 1);
    rlock_on_lost(client, NULL, NULL);
}

/* C's unlock comes before its renewal could have noticed, and Java has it by then. */
Test(force, by_java_makes_cs_unlock_answer_lost)
{
    rlock *lock = lock_of(stage.client, NAME);
    assert_ok(rlock_lock_lease(lock, LASTING_MS));
    cr_assert(java_force("t1", NAME));
    java_lock("t1", NAME);
    assert_status(rlock_unlock(lock), RLOCK_LOST);
    cr_assert(java_is_held("t1", NAME) && java_hold_count("t1", NAME) == 1);
    assert_status(rlock_try_lock(lock, 0, RLOCK_WATCHDOG), RLOCK_TIMEOUT);
    java_unlock("t1", NAME);
    assert_ok(rlock_try_lock(lock, 0, RLOCK_WATCHDOG));
}

Test(force, by_c_makes_javas_unlock_throw)
{
    rlock *lock = lock_of(stage.client, NAME);
    bool was_locked = false;
    java_lock("t1", NAME);
    assert_ok(rlock_force_unlock(lock, &was_locked));
    cr_assert(was_locked && !java_is_locked(NAME) && !java_is_held("t1", NAME));
    assert_ok(rlock_lock(lock));
    assert_thrown(ASK(java, "t1", "lock", NAME, "unlock"), "IllegalMonitorStateException");
    assert_ok(rlock_unlock(lock));
    assert_no_keys();
}

static void assert_gone_after(int64_t since_ms, int64_t lease_ms)
{
    cr_assert(server_wait_exists(stage.server, NAME, false, lease_ms + BY_MESSAGE_MS));
    assert_between(now_ms() - since_ms, 0, lease_ms + at_most_ms(100));
}

/* Nothing of Java's renews what C holds then, and the other way round. */
Test(force, ends_the_renewal_by_the_former_holder, .init = java_stage_quick, .lasts = 40)
{
    rlock *lock = lock_of(stage.client, NAME);
    java_lock("t1", NAME);
    assert_ok(rlock_force_unlock(lock, NULL));
    assert_ok(rlock_lock_lease(lock, 2 * QUICK_MS));
    assert_gone_after(now_ms(), 2 * QUICK_MS);
    assert_status(rlock_unlock(lock), RLOCK_LOST);
    assert_ok(rlock_lock(lock));
    cr_assert(java_force("t1", NAME));
    java_lease("t1", NAME, 2 * QUICK_MS);
    assert_gone_after(now_ms(), 2 * QUICK_MS);
}

static void force_in_c_for_java(rlock *held, bool in_time)
{
    assert_ok(rlock_lock_lease(held, LASTING_MS));
    int64_t scripts = scripts_run();
    int waiting = java_begin_lock("t1", NAME);
    wait_for_waiter(NAME, scripts);
    int64_t forced_ns = now_ns();
    assert_ok(rlock_force_unlock(held, NULL));
    const answer *locked = agent_await(java, waiting, BY_MESSAGE_MS);
    assert_result(locked, "");
    assert_status(rlock_unlock(held), RLOCK_LOST);
    if (in_time)
        assert_between((locked->ended_ns - forced_ns) / 1000000, 0, at_most_ms(SOON_MS));
}

static void force_in_java_for_c(actor *waiter, rlock *lock, bool in_time)
{
    int64_t scripts = scripts_run();
    actor_begin_lock(waiter, lock);
    wait_for_waiter(NAME, scripts);
    const answer *forced = ASK(java, "t2", "lock", NAME, "force");
    assert_result(forced, "true");
    assert_ok(actor_finish(waiter, BY_MESSAGE_MS));
    if (in_time)
        assert_between(actor_ended_at(waiter) - forced->began_ns / 1000000, 0, at_most_ms(SOON_MS));
    assert_ok(actor_unlock(waiter, lock));
}

/* By either side, a waiter of the other. Java is warm in the last round. */
Test(force, wakes_who_waits)
{
    enum { ROUNDS = 4 };
    rlock *held = lock_of(stage.other, NAME), *lock = lock_of(stage.client, NAME);
    actor *waiter = actor_start();
    for (int round = 1; round <= ROUNDS; round++) {
        force_in_c_for_java(held, round == ROUNDS);
        force_in_java_for_c(waiter, lock, round == ROUNDS);
    }
    actor_end(waiter);
}

Test(force, of_a_free_lock_is_false_on_both_sides)
{
    bool was_locked = true;
    assert_ok(rlock_force_unlock(lock_of(stage.client, NAME), &was_locked));
    cr_assert(!was_locked && !java_force("t1", NAME));
}
